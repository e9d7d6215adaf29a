/**
 * What the programs in the folder run: `node envtest.cjs etcd|kube-apiserver FLAGS…`. Small, as etcd needs nothing else;
 * the API server is read while its port is open already.
 */
import { openPortEarly } from "../transport/index.ts";
import { runProgram } from "./run.ts";
import { PREPARE } from "./tables.ts";

/** After so long nobody waits for the answers to the first requests any more. */
const CALM_MS = 1_000;

const [name = "", ...argv] = process.argv.slice(2);

async function main(): Promise<void> {
  if (name === PREPARE) {
    const { prepareStart } = await import("./prepare.ts");
    process.exitCode = (await prepareStart(process.env)) ? 0 : 1;
    return;
  }
  await runProgram(name, argv, {
    openPort: openPortEarly,
    load: async () => {
      const { API_SERVER_ENTRY, packBeside } = await import("./packed.ts");
      const pack = packBeside(process.env);
      const found = pack.load<import("./packed.ts").ApiServerModule>(API_SERVER_ENTRY);
      return { ...found, started: () => setTimeout(() => pack.keep(), CALM_MS).unref() };
    },
  });
}

main().catch((error: unknown) => {
  process.stderr.write(`Error: ${name}: ${error instanceof Error ? error.message : String(error)}\n`);
  process.exit(1);
});

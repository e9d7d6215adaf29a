import { helpText, readFlags, wantsHelp } from "./flags.ts";
import { liveUntilTold } from "./life.ts";
import { PROGRAMS, type ProgramName } from "./tables.ts";

/** Runs a stand-in as this process. What keeps it from starting is told on standard error, with exit code 1. */
export async function runProgram(name: string, argv: readonly string[]): Promise<void> {
  if (!Object.hasOwn(PROGRAMS, name)) return fail(name, "there is no such program", "run etcd or kube-apiserver");
  const program = name as ProgramName;
  const { what, table } = PROGRAMS[program];
  if (wantsHelp(argv)) {
    process.stdout.write(`${helpText(program, what, table)}\n`);
    return;
  }
  const flags = readFlags(argv, table);
  if (typeof flags === "string") return fail(program, flags, `${program} --help has those that there are`);
  if (flags.ignored.length > 0) warn(program, `without effect here: ${flags.ignored.map((f) => `--${f}`).join(", ")}`);
  // From the first moment on: a test that sees it answer may tell it to end.
  let stop = async (): Promise<void> => {};
  liveUntilTold(() => stop());
  try {
    if (program === "etcd") {
      const { startEtcd } = await import("./etcd.ts");
      const server = await startEtcd(flags);
      stop = async () => {
        server.closeAllConnections();
        server.close();
      };
    } else {
      const { startApiServer } = await import("./apiserver.ts");
      const cluster = await startApiServer(flags, (text) => warn(program, text), process.env);
      stop = () => cluster.stop();
    }
  } catch (error) {
    const { hint = "" } = error as { hint?: string };
    fail(program, error instanceof Error ? error.message : String(error), hint);
  }
}

function warn(program: string, text: string): void {
  process.stderr.write(`${program}: ${text}\n`);
}

function fail(program: string, what: string, hint: string): void {
  process.stderr.write(`Error: ${program}: ${what}\n${hint === "" ? "" : `Do:    ${hint}\n`}`);
  process.exit(1);
}

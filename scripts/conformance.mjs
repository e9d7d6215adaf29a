// `npm run test:conformance`: Kubernetes' own conformance suite with the embedded cluster. Needs Go.
import { ensureInstalled } from "./install.mjs";
import { foreground, main } from "./process.mjs";
import { root, sourceCondition } from "./workspace.mjs";

await main(async () => {
  await ensureInstalled();
  const loader = ["--import", "./scripts/typescript.mjs", `--conditions=${sourceCondition}`];
  return foreground(process.execPath, [...loader, "tests/conformance/run.ts", ...process.argv.slice(2)], { cwd: root });
});

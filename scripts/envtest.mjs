// `npm run test:envtest`: controller-runtime's own suites with the programs of `lotse cluster --envtest`. Needs Go.
import { ensureInstalled } from "./install.mjs";
import { foreground, main } from "./process.mjs";
import { root, sourceCondition } from "./workspace.mjs";

await main(async () => {
  await ensureInstalled();
  // The programs are started as a user's are, from what is published.
  const { build } = await import("./build.mjs");
  await build({ types: false });
  const loader = ["--import", "./scripts/typescript.mjs", `--conditions=${sourceCondition}`];
  return foreground(process.execPath, [...loader, "tests/envtest/run.ts", ...process.argv.slice(2)], { cwd: root });
});

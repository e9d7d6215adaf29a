// `npm start`: everything that it takes from a fresh clone to the exchange-rates example at work.
import { existsSync } from "node:fs";
import path from "node:path";
import { build } from "./build.mjs";
import { ensureInstalled } from "./install.mjs";
import { Failure, foreground, main } from "./process.mjs";
import { root } from "./workspace.mjs";

await main(async () => {
  await ensureInstalled();
  await build({ types: false });
  return story(process.argv.slice(2));
});

/**
 * The story that `npm start` tells. It runs on the built packages, in a process of its own that has the terminal;
 * signals and the exit code pass through.
 */
function story(args) {
  const file = path.join("examples", "exchange-rates", "story.ts");
  if (!existsSync(path.join(root, file))) throw new Failure(`${file} is missing: the clone is not complete.`);
  return foreground(process.execPath, ["--import", "./scripts/typescript.mjs", file, ...args], { cwd: root });
}

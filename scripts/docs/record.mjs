// Records what `lotse dev` and `lotse run` show in a terminal, for docs/recordings: node scripts/docs/record.mjs [name…]
// It runs what is built (node scripts/build.mjs --js) with the kubectl of `npm run test:kubectl`, which also looks whether
// the recordings are still true.
import { mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import "../typescript.mjs";
import { main, say } from "../process.mjs";
import { root } from "../workspace.mjs";

await main(async () => {
  const { RECORDINGS, record } = await import("./recordings.ts");
  const folder = path.join(root, "docs", "recordings");
  mkdirSync(folder, { recursive: true });
  const names = process.argv.length > 2 ? process.argv.slice(2) : Object.keys(RECORDINGS);
  for (const name of names) {
    const text = await record(name);
    writeFileSync(path.join(folder, `${name}.txt`), text);
    say(`recorded docs/recordings/${name}.txt`);
  }
  return 0;
});

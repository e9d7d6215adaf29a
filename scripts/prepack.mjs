// Runs before npm packs one of the packages, whoever asks for it: what is published always has its bundles and its
// declarations, and they are those of the sources beside them. Says what it does on standard error, because the standard
// output of `npm pack --json` is for programs.
import { build } from "./build.mjs";
import { ensureInstalled } from "./install.mjs";
import { main } from "./process.mjs";

process.stdout.write = process.stderr.write.bind(process.stderr);
await main(async () => {
  await ensureInstalled();
  await build();
});

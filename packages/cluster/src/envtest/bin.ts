/** What `bin/lotse-cluster.js` calls. */
import { runCommand } from "./command.ts";

process.exitCode = await runCommand(
  process.argv.slice(2),
  (text) => process.stdout.write(text),
  (text) => process.stderr.write(text),
);

// Loaded into a contestant on Node.js beforehand: SIGWINCH, which means nothing to a program without a terminal, has it
// collect its garbage, so that memory can be told from what merely was not collected yet.
import v8 from "node:v8";
import vm from "node:vm";

v8.setFlagsFromString("--expose-gc");
const collect = vm.runInNewContext("gc");

process.on("SIGWINCH", () => collect());

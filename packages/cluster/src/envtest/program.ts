/** What the programs in the folder run: `node envtest.js etcd|kube-apiserver FLAGS…`. */
import module from "node:module";

// Before anything large is loaded: newer versions of Node.js keep compiled code from one run to the next.
(module as { enableCompileCache?: () => unknown }).enableCompileCache?.();

const { runProgram } = await import("./run.ts");
await runProgram(process.argv[2] ?? "", process.argv.slice(3));

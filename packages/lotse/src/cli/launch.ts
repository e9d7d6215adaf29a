/** What `bin/lotse.js` calls: the command line of this process. Loads no more than the command needs. */

import v8 from "node:v8";
import { nurseryFlag } from "./nursery.ts";
import { readPlainCluster } from "./plain-cluster.ts";
import { processIo, reportFailure, uncaughtProblem } from "./terminal/index.ts";

/** Runs the command line of this process. */
export async function launch(): Promise<void> {
  const argv = process.argv.slice(2);
  const { env, execArgv } = process;
  const nursery = nurseryFlag({ argv, execArgv, env, version: process.versions.node });
  // Before the operator is loaded, which alone would let it grow.
  if (nursery) v8.setFlagsFromString(nursery);
  const io = processIo();
  // Whatever command it is: also an error that no code caught is told in words. Commands that know better listen
  // themselves.
  io.onUncaught((error, origin) => {
    process.exit(reportFailure(uncaughtProblem({ error, origin }, "then try again"), argv, io));
  });
  const plain = readPlainCluster(argv, io.env);
  if (plain) {
    const { cluster } = await import("./cluster.ts");
    process.exitCode = await cluster(plain, io).catch((error: unknown) => reportFailure(error, argv, io));
  } else {
    const { main } = await import("./main.ts");
    process.exitCode = await main(argv, io);
  }
  // What a user's file left open (a pool, a timer) must not hold back a program whose work is done; what is still to
  // be written to a pipe gets its time.
  setTimeout(() => process.exit(), 1_000).unref();
}

/**
 * `lotse/run`: the entry of a bundled operator. `lotse generate dockerfile` writes a file that calls it.
 *
 * @module
 */
import { mainBundled, processIo } from "./cli/index.ts";

/**
 * Runs the operators that a module exports, as `lotse run` would: against the cluster that the process is in, with the
 * flags of `lotse run` and its environment variables.
 *
 * @example
 * ```ts
 * await runBundled({ operator });
 * ```
 */
export async function runBundled(exports: Readonly<Record<string, unknown>>): Promise<void> {
  process.exitCode = await mainBundled(exports, process.argv.slice(2), processIo());
  // What the operator left open must not hold back a program whose work is done.
  setTimeout(() => process.exit(), 1_000).unref();
}

/** How long a program lives: until it is told to end, or until the process that started it is gone. */

/** How often a program looks whether its parent is still there. */
const LOOK_MS = 250;
/** After so long it ends, whatever is still open. */
const PATIENCE_MS = 2_000;

/**
 * Ends this process on a signal, or soon after its parent has gone: a test that is killed leaves no servers behind.
 * A program that is started by the first process of a machine or container cannot outlive it.
 */
export function liveUntilTold(stop: () => Promise<void>): void {
  let ending = false;
  const end = () => {
    if (ending) return;
    ending = true;
    setTimeout(() => process.exit(0), PATIENCE_MS).unref();
    stop().then(
      () => process.exit(0),
      (error: unknown) => {
        process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
        process.exit(1);
      },
    );
  };
  for (const signal of ["SIGTERM", "SIGINT"] as const) process.on(signal, end);
  const parent = process.ppid;
  if (parent <= 1) return;
  setInterval(() => {
    if (process.ppid !== parent) end();
  }, LOOK_MS).unref();
}

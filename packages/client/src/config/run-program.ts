/** Runs a program to its end, or until no caller waits for it. */

/** Runs a program; rejects with the system's error when it cannot be started, and with the signal's reason. */
export type RunProgram = (
  command: string,
  args: readonly string[],
  o: {
    readonly env: Record<string, string | undefined>;
    readonly interactive: boolean;
    /** Aborting ends the program. */
    readonly signal?: AbortSignal | undefined;
  },
) => Promise<{ exitCode: number; stdout: string; stderr: string }>;

/** Asked to end, a program has this long to do so. */
const GRACE_MS = 2_000;
/** Far more than any credential has. */
const LONGEST_OUTPUT = 4 * 1024 * 1024;

/** Loaded when needed: most clients never start a program. */
export async function loadRunner(): Promise<RunProgram> {
  const { spawn } = await import("node:child_process");
  return (command, args, o) =>
    new Promise((resolve, reject) => {
      const child = spawn(command, args, {
        env: o.env,
        stdio: [o.interactive ? "inherit" : "ignore", "pipe", "pipe"],
        windowsHide: true,
      });
      const output = { stdout: "", stderr: "" };
      /** Its children may hold its pipes open: they are not waited for. */
      const stop = (reason: unknown) => {
        child.kill("SIGTERM");
        const hard = setTimeout(() => child.kill("SIGKILL"), GRACE_MS);
        hard.unref();
        child.once("exit", () => clearTimeout(hard));
        child.stdout?.destroy();
        child.stderr?.destroy();
        child.unref();
        reject(reason);
      };
      const onAbort = () => stop(o.signal?.reason);
      for (const name of ["stdout", "stderr"] as const) {
        child[name]?.setEncoding("utf8").on("data", (text: string) => {
          output[name] += text;
          if (output[name].length > LONGEST_OUTPUT) stop(new Error("it prints without end"));
          // Questions and login addresses must reach the person in front of the terminal.
          if (name === "stderr" && o.interactive) process.stderr.write(text);
        });
      }
      child.once("error", (error: NodeJS.ErrnoException) => {
        o.signal?.removeEventListener("abort", onAbort);
        reject(withoutArguments(error));
      });
      child.once("close", (code) => {
        o.signal?.removeEventListener("abort", onAbort);
        resolve({ exitCode: code ?? 1, ...output });
      });
      if (o.signal?.aborted) onAbort();
      else o.signal?.addEventListener("abort", onAbort, { once: true });
    });
}

/** The system's error carries the whole command line, and a program that prints the error prints that, too. */
function withoutArguments({ message, code }: NodeJS.ErrnoException): Error {
  return Object.assign(new Error(message), code === undefined ? {} : { code });
}

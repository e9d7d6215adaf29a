import { spawn } from "node:child_process";

/** What a program left behind. */
export interface Outcome {
  readonly stdout: string;
  readonly stderr: string;
  readonly exitCode: number;
}

/** How {@link run} runs a program. */
export interface RunOptions {
  /** What the program reads; it ends there. */
  readonly stdin?: string;
  /** Added to the environment. */
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
  /** Ends the program, which counts as its regular end. */
  readonly signal?: AbortSignal;
}

/** Runs a program to its end and collects what it wrote. */
export function run(program: string, args: readonly string[], options: RunOptions = {}): Promise<Outcome> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, {
      env: { ...process.env, ...options.env },
      stdio: "pipe",
      ...(options.cwd !== undefined && { cwd: options.cwd }),
      ...(options.signal && { signal: options.signal }),
    });
    let [stdout, stderr] = ["", ""];
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      stdout += text;
    });
    child.stderr.setEncoding("utf8").on("data", (text: string) => {
      stderr += text;
    });
    child.stdin.on("error", () => {}); // it may end without reading
    child.stdin.end(options.stdin ?? "");
    child.on("error", (error) => {
      // An abort is how a test ends `get --watch`; what was written until then counts.
      if (error.name !== "AbortError") reject(error);
    });
    child.on("close", (code) => resolve({ stdout, stderr, exitCode: code ?? 130 }));
  });
}

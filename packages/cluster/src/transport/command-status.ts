import type { CommandSession } from "../api/index.ts";

/** How a command ended: with an exit code, or not at all. */
export type Outcome = { readonly exitCode: number } | { readonly failure: Error };

/** Runs a session's command; never rejects. */
export async function runCommand(
  session: CommandSession,
  streams: Parameters<CommandSession["run"]>[0],
): Promise<Outcome> {
  try {
    return { exitCode: await session.run(streams) };
  } catch (error) {
    return { failure: error instanceof Error ? error : new Error(String(error)) };
  }
}

/** From the fourth version of the protocol on, the end is told as a Status; older clients get a sentence, or nothing. */
export function describeOutcome(outcome: Outcome, command: readonly string[], structured: boolean): string {
  const status = statusOf(outcome, command);
  if (structured) return JSON.stringify(status);
  return status.message ?? "";
}

function statusOf(outcome: Outcome, command: readonly string[]) {
  if ("failure" in outcome) {
    const message = outcome.failure.message;
    return {
      metadata: {},
      status: "Failure",
      message: `Internal error occurred: ${message}`,
      reason: "InternalError",
      details: { causes: [{ message }] },
      code: 500,
    };
  }
  const { exitCode } = outcome;
  if (exitCode === 0) return { metadata: {}, status: "Success" };
  return {
    metadata: {},
    status: "Failure",
    message: `command terminated with non-zero exit code: error executing command [${command.join(" ")}], exit code ${exitCode}`,
    reason: "NonZeroExitCode",
    details: { causes: [{ reason: "ExitCode", message: String(exitCode) }] },
  };
}

/** Sizes of a terminal as they come, for the command that asks for them, the last one first. */
export class TerminalSizes {
  #last: { readonly width: number; readonly height: number } | undefined;
  #listener: ((size: { readonly width: number; readonly height: number }) => void) | undefined;

  /** A size as clients write it: `{"Width":80,"Height":24}`. What is none is ignored. */
  parse(text: string): void {
    try {
      const { Width: width, Height: height } = JSON.parse(text) as Record<string, unknown>;
      if (typeof width !== "number" || typeof height !== "number") return;
      this.#last = { width, height };
      this.#listener?.(this.#last);
    } catch {
      // A size that cannot be read changes nothing.
    }
  }

  readonly subscribe = (listener: (size: { readonly width: number; readonly height: number }) => void): void => {
    this.#listener = listener;
    if (this.#last) listener(this.#last);
  };
}

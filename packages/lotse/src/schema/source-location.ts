import { fileURLToPath } from "node:url";

/** Where in the user's source something happens. */
export interface CallerFrame {
  /** Absolute. */
  readonly file: string;
  /** As people are told: the file with its folder, and the line (`shop/operator.ts:12`). */
  readonly sourceLocation: string;
}

/**
 * The place in the user's source that is declaring something right now: `operator.ts:12`.
 *
 * It is the first frame of the stack that is neither Lotse nor Node. Undefined when the engine gives no stack.
 */
export function callerLocation(stack = wholeStack()): string | undefined {
  return callerFrame(stack)?.sourceLocation;
}

/** The same, with the file as the machine knows it. */
export function callerFrame(stack = wholeStack()): CallerFrame | undefined {
  for (const line of stack?.split("\n").slice(1) ?? []) {
    const match = /\(?((?:file:\/\/|\/|[A-Za-z]:\\)[^()]+):(\d+):\d+\)?$/.exec(line.trim());
    if (!match) continue;
    const [, location = "", row] = match;
    if (isOwnFrame(location)) continue;
    const bare = location.replace(/\?.*$/, "");
    const words = bare.replace(/^file:\/\//, "").split(/[\\/]/);
    const file = bare.startsWith("file://") ? fileURLToPath(bare) : bare;
    return { file, sourceLocation: `${words.slice(-2).join("/")}:${row}` };
  }
  return undefined;
}

/** Deep enough for all frames of Lotse's own: engines keep ten unless asked for more. */
const FRAMES = 40;

function wholeStack(): string | undefined {
  const before = Error.stackTraceLimit;
  Error.stackTraceLimit = FRAMES;
  try {
    return new Error().stack;
  } finally {
    Error.stackTraceLimit = before;
  }
}

const OWN_FILE =
  /[\\/](?:lotse[\\/](?:src[\\/](?:(?:schema|declare|turn)[\\/]|operator[\\/]operator\.ts)|dist[\\/])|node:)/;

function isOwnFrame(file: string): boolean {
  return OWN_FILE.test(file) && !/\.test\.ts/.test(file);
}

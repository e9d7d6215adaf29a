/**
 * The place in the user's source that is declaring something right now: `operator.ts:12`.
 *
 * It is the first frame of the stack that is neither Lotse nor Node. Undefined when the engine gives no stack.
 */
export function callerPlace(stack = new Error().stack): string | undefined {
  for (const line of stack?.split("\n").slice(1) ?? []) {
    const match = /\(?((?:file:\/\/|\/|[A-Za-z]:\\)[^()]+):(\d+):\d+\)?$/.exec(line.trim());
    if (!match) continue;
    const [, file = "", row] = match;
    if (isOwnFrame(file)) continue;
    return `${file
      .replace(/^file:\/\//, "")
      .replace(/\?.*$/, "")
      .split(/[\\/]/)
      .slice(-2)
      .join("/")}:${row}`;
  }
  return undefined;
}

const OWN_FILE = /[\\/](?:lotse[\\/](?:src[\\/](?:(?:declare|turn)[\\/]|operator\.ts)|dist[\\/])|node:)/;

function isOwnFrame(file: string): boolean {
  return OWN_FILE.test(file) && !/\.test\.ts/.test(file);
}

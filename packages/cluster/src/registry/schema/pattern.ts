/**
 * Compiles a regular expression of the server's dialect (RE2). The dialects differ in spelling only where schemas use
 * them: inline flags at the start, named groups, text anchors and POSIX classes. Undefined when it cannot be compiled.
 */
export function compilePattern(pattern: string): RegExp | undefined {
  let source = pattern;
  let flags = "";
  const inline = /^\(\?([imsU]+)\)/.exec(source);
  if (inline) {
    source = source.slice(inline[0].length);
    for (const flag of "ims") if (inline[1]?.includes(flag)) flags += flag;
  }
  source = source
    .replaceAll("(?P<", "(?<")
    .replace(/\\A/g, "^")
    .replace(/\\z/g, "$")
    .replace(/\[:(\^?)(\w+):\]/g, (text, negated: string, name: string) => {
      const members = POSIX[name];
      return members === undefined || negated === "^" ? text : members;
    });
  // Unicode first, because it reads `\p{L}` and counts characters as Go does; it is stricter about needless escapes.
  for (const mode of [`${flags}u`, flags]) {
    try {
      return new RegExp(source, mode);
    } catch {}
  }
  return undefined;
}

const POSIX: Record<string, string> = {
  alnum: "0-9A-Za-z",
  alpha: "A-Za-z",
  digit: "0-9",
  lower: "a-z",
  upper: "A-Z",
  punct: "!-\\/:-@\\[-`{-~",
  space: "\\t\\n\\v\\f\\r ",
  word: "0-9A-Za-z_",
  xdigit: "0-9A-Fa-f",
};

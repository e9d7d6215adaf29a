/** How names and values are written in CEL. */

/** Words that CEL keeps for itself. */
const RESERVED = new Set(
  "true false null in as break const continue else for function if import let loop package namespace return var void while".split(
    " ",
  ),
);

const ESCAPED: Readonly<Record<string, string>> = {
  __: "__underscores__",
  ".": "__dot__",
  "-": "__dash__",
  "/": "__slash__",
};

/** A field as rules name it: `my-key` is `my__dash__key`. Undefined where rules have no word for it. */
export function celField(name: string): string | undefined {
  if (RESERVED.has(name)) return `__${name}__`;
  if (!/^[A-Za-z_./-][A-Za-z0-9_./-]*$/.test(name)) return undefined;
  return name.replaceAll(/__|[./-]/g, (part) => ESCAPED[part] as string);
}

/** A text, a number or a boolean. */
export function celLiteral(value: unknown): string {
  return typeof value === "string" ? celText(value) : String(value);
}

/** A text between quotes. */
export function celText(text: string): string {
  const escaped = text.replaceAll(
    /[\\'\n\r\t]/g,
    (char) => ({ "\n": "\\n", "\r": "\\r", "\t": "\\t" })[char] ?? `\\${char}`,
  );
  return `'${escaped}'`;
}

/** One token of an expression. */
export interface CelToken {
  /** Its text for operators and keywords; what sort it is for all others. */
  readonly kind: string;
  readonly text: string;
  readonly offset: number;
}

/** One mistake, and where it is. */
export interface CelMistake {
  readonly message: string;
  readonly offset: number;
}

const KEYWORDS: ReadonlySet<string> = new Set(["true", "false", "null", "in"]);

/** Longest first, where one begins like another. */
const SORTS: readonly (readonly [kind: string, pattern: RegExp])[] = [
  ["", /(?:\s+|\/\/[^\n]*)/y],
  ["BYTES", /[bB][rR]?(?:"""[\s\S]*?"""|'''[\s\S]*?'''|"(?:\\.|[^"\\\n\r])*"|'(?:\\.|[^'\\\n\r])*')/y],
  ["STRING", /[rR]?(?:"""[\s\S]*?"""|'''[\s\S]*?'''|"(?:\\.|[^"\\\n\r])*"|'(?:\\.|[^'\\\n\r])*')/y],
  ["NUM_FLOAT", /(?:\d+\.\d+(?:[eE][+-]?\d+)?|\d+[eE][+-]?\d+|\.\d+(?:[eE][+-]?\d+)?)/y],
  ["NUM_UINT", /(?:0x[0-9a-fA-F]+|\d+)[uU]/y],
  ["NUM_INT", /(?:0x[0-9a-fA-F]+|\d+)/y],
  ["IDENTIFIER", /[A-Za-z_][A-Za-z0-9_]*/y],
  ["ESC_IDENTIFIER", /`[A-Za-z0-9_.\-/ ]+`/y],
  ["op", /(?:==|!=|<=|>=|&&|\|\||[<>[\]{}().,\-!?:+*/%])/y],
];

/** Cuts an expression into tokens, the end last, as the server's compiler does; what is no token is a mistake. */
export function celTokens(expression: string): { readonly tokens: CelToken[]; readonly mistakes: CelMistake[] } {
  const tokens: CelToken[] = [];
  const mistakes: CelMistake[] = [];
  for (let at = 0; at < expression.length; ) {
    const found = tokenAt(expression, at);
    if (found === undefined) {
      const end = failureEnd(expression, at);
      mistakes.push({
        message: `Syntax error: token recognition error at: '${expression.slice(at, end)}'`,
        offset: at,
      });
      at = end;
      continue;
    }
    if (found.kind !== "") tokens.push(found);
    at += found.text.length;
  }
  tokens.push({ kind: "<EOF>", text: "<EOF>", offset: expression.length });
  return { tokens, mistakes };
}

function tokenAt(expression: string, offset: number): CelToken | undefined {
  for (const [sort, pattern] of SORTS) {
    pattern.lastIndex = offset;
    const text = pattern.exec(expression)?.[0];
    if (text === undefined) continue;
    const word = sort === "op" || (sort === "IDENTIFIER" && KEYWORDS.has(text));
    return { kind: word ? text : sort, text, offset };
  }
  return undefined;
}

/** How far the compiler got before it knew: to the end of a text that is not closed, or one letter after half an operator. */
function failureEnd(expression: string, at: number): number {
  const first = expression[at] as string;
  if (first === '"' || first === "'") {
    const line = expression.indexOf("\n", at);
    return line < 0 ? expression.length : line + 1;
  }
  const width = String.fromCodePoint(expression.codePointAt(at) as number).length;
  const half = first === "=" || first === "&" || first === "|" ? 1 : 0;
  return Math.min(expression.length, at + width + half);
}

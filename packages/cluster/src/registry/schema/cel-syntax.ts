import { type CelMistake, type CelToken, celTokens } from "./cel-tokens.ts";

const LITERALS = ["true", "false", "null", "NUM_FLOAT", "NUM_INT", "NUM_UINT", "STRING", "BYTES", "IDENTIFIER"];
/** In the order in which the server's compiler knows them, by which it lists what it expects. */
const ORDER = ["[", "]", "{", "}", "(", ")", ".", ",", "-", "!", "?", ":", ...LITERALS, "ESC_IDENTIFIER"];
/** What an operand can begin with. */
const START: readonly string[] = ["[", "{", "(", ".", "-", "!", ...LITERALS];
const OR = ["||"];
const AND = ["&&"];
const RELATIONS = ["==", "!=", "<", "<=", ">", ">=", "in"];
const CALCULATIONS = ["+", "-", "*", "/", "%"];
const OPERATORS: readonly string[] = [...OR, ...AND, ...RELATIONS, ...CALCULATIONS, "?"];
const RESERVED: ReadonlySet<string> = new Set(
  "as break const continue else for function if import let loop package namespace return var void while".split(" "),
);

const shown = (kinds: readonly string[]): string => {
  const sorted = [...kinds].sort((a, b) => ORDER.indexOf(a) - ORDER.indexOf(b));
  const names = sorted.map((kind) => (/^[A-Z_]+$/.test(kind) || kind === "<EOF>" ? kind : `'${kind}'`));
  return names.length === 1 ? (names[0] as string) : `{${names.join(", ")}}`;
};

/**
 * What is wrong with the grammar of an expression, in the words of the server's compiler, whose parser goes on after a
 * mistake: it leaves one token out where the next one fits, puts one in where that helps, and otherwise takes up again
 * at the next token that can follow. Empty when nothing is found.
 */
export function syntaxMistakes(expression: string): CelMistake[] {
  const { tokens, mistakes } = celTokens(expression);
  const parser = new Parser(expression, tokens, mistakes);
  parser.run();
  return mistakes.sort((a, b) => a.offset - b.offset);
}

class Parser {
  readonly #expression: string;
  readonly #tokens: readonly CelToken[];
  readonly #mistakes: CelMistake[];
  /** What can follow the expression that is being read, for each one that it stands in. */
  readonly #follow: (readonly string[])[] = [];
  #at = 0;
  /** A mistake was told, and no token has fitted since. */
  #lost = false;

  constructor(expression: string, tokens: readonly CelToken[], mistakes: CelMistake[]) {
    this.#expression = expression;
    this.#tokens = tokens;
    this.#mistakes = mistakes;
  }

  run(): void {
    this.#within(["<EOF>"], () => this.#whole());
    this.#expect(["<EOF>"], []);
  }

  get #token(): CelToken {
    return this.#tokens[this.#at] as CelToken;
  }

  #peek(ahead: number): string {
    return (this.#tokens[this.#at + ahead] ?? this.#tokens.at(-1))?.kind ?? "<EOF>";
  }

  #is(...kinds: readonly string[]): boolean {
    return kinds.includes(this.#token.kind);
  }

  #next(): void {
    this.#lost = false;
    if (this.#token.kind !== "<EOF>") this.#at++;
  }

  #tell(message: string, offset = this.#token.offset): void {
    if (!this.#lost) this.#mistakes.push({ message, offset });
  }

  #within(follow: readonly string[], read: () => void): void {
    this.#follow.push(follow);
    read();
    this.#follow.pop();
  }

  /** Leaves out what cannot follow anything that is being read. */
  #recover(): void {
    this.#lost = true;
    const known = new Set([...OPERATORS, ...this.#follow.flat(), "<EOF>"]);
    while (!known.has(this.#token.kind)) this.#at++;
  }

  /** Takes one of these tokens; `after` is what can follow it, where it may be put in. */
  #expect(kinds: readonly string[], after: readonly string[]): boolean {
    if (this.#is(...kinds)) {
      this.#next();
      return true;
    }
    const { text, kind } = this.#token;
    if (kinds.includes(this.#peek(1)) && kind !== "<EOF>") {
      this.#tell(`Syntax error: extraneous input '${text}' expecting ${shown(kinds)}`);
      this.#at++;
      this.#next();
      return true;
    }
    if (after.includes(kind)) {
      this.#tell(`Syntax error: missing ${shown(kinds)} at '${text}'`);
      this.#lost = true;
      return true;
    }
    this.#tell(`Syntax error: mismatched input '${text}' expecting ${shown(kinds)}`);
    this.#recover();
    return false;
  }

  /** Whether an operand, or one of the others, begins here; leaves one token out where that helps. */
  #begins(others: readonly string[] = []): boolean {
    const kinds = [...START, ...others];
    if (this.#is(...kinds)) return true;
    const { text, kind } = this.#token;
    if (kind !== "<EOF>" && kinds.includes(this.#peek(1))) {
      this.#tell(`Syntax error: extraneous input '${text}' expecting ${shown(kinds)}`);
      this.#lost = true;
      this.#at++;
      return true;
    }
    this.#tell(`Syntax error: mismatched input '${text}' expecting ${shown(kinds)}`);
    this.#recover();
    return false;
  }

  /** What can follow the end of an operand here. */
  get #afterOperand(): readonly string[] {
    return [...OPERATORS, ".", "[", ...(this.#follow.at(-1) ?? [])];
  }

  #whole(): void {
    this.#either();
    if (!this.#is("?")) return;
    this.#next();
    this.#within([":"], () => this.#either());
    if (this.#expect([":"], START)) this.#whole();
  }

  #either(): void {
    this.#operand();
    while (this.#is(...OR, ...AND, ...RELATIONS, ...CALCULATIONS)) {
      this.#next();
      this.#operand();
    }
  }

  #operand(): void {
    if (!this.#begins()) return;
    if (this.#is("!")) {
      while (this.#is("!")) this.#next();
      if (!this.#is(...START)) {
        this.#tell(`Syntax error: extraneous input '${this.#token.text}' expecting ${shown(START)}`);
        this.#recover();
        return;
      }
    } else if (this.#is("-")) {
      while (this.#is("-") && this.#peek(1) === "-") this.#next();
      const minus = this.#token;
      this.#next();
      if (!this.#is(...START)) {
        this.#notViable(minus);
        if (!this.#begins()) return;
      }
    }
    this.#member();
  }

  /** Nothing that begins with `from` goes on like this. */
  #notViable(from: CelToken): void {
    const { offset, kind, text } = this.#token;
    const end = kind === "<EOF>" ? this.#expression.length : offset + text.length;
    this.#tell(`Syntax error: no viable alternative at input '${this.#expression.slice(from.offset, end)}'`);
  }

  #member(): void {
    if (!this.#primary()) return;
    for (;;) {
      if (this.#is(".")) {
        if (!this.#select()) return;
      } else if (this.#is("[")) {
        this.#next();
        if (this.#is("?")) this.#next();
        else if (!this.#begins(["?"])) return;
        this.#within(["]"], () => this.#whole());
        if (!this.#expect(["]"], this.#afterOperand)) return;
      } else return;
    }
  }

  #select(): boolean {
    const dot = this.#token;
    this.#next();
    if (this.#is("?")) {
      this.#next();
      if (this.#is("IDENTIFIER", "ESC_IDENTIFIER")) this.#next();
      else {
        const { offset } = this.#token;
        this.#expect(["IDENTIFIER", "ESC_IDENTIFIER"], []);
        this.#mistakes.push({ message: "unsupported ident kind", offset });
        return false;
      }
      return true;
    }
    if (!this.#is("IDENTIFIER", "ESC_IDENTIFIER")) {
      this.#notViable(dot);
      this.#recover();
      return false;
    }
    this.#next();
    return this.#is("(") ? this.#call() : true;
  }

  #call(): boolean {
    this.#next();
    if (!this.#is(")")) {
      if (!this.#begins([")"])) return this.#expect([")"], this.#afterOperand);
      this.#within([",", ")"], () => this.#whole());
      while (this.#is(",")) {
        this.#next();
        this.#within([",", ")"], () => this.#whole());
      }
    }
    return this.#expect([")"], this.#afterOperand);
  }

  /** Whether there was one. */
  #primary(): boolean {
    if (this.#is("(")) {
      this.#next();
      this.#within([")"], () => this.#whole());
      return this.#expect([")"], this.#afterOperand);
    }
    if (this.#is("[")) return this.#list("]", () => this.#item("]"));
    if (this.#is("{")) return this.#list("}", () => this.#entry());
    if (this.#is(".")) {
      const dot = this.#token;
      this.#next();
      if (!this.#is("IDENTIFIER")) {
        this.#notViable(dot);
        this.#recover();
        return false;
      }
    }
    if (!this.#is("IDENTIFIER")) {
      this.#next();
      return true;
    }
    return this.#named();
  }

  /** A variable, a call, or a literal of a type with a name. */
  #named(): boolean {
    const { text, offset } = this.#token;
    let ahead = 1;
    while (this.#peek(ahead) === "." && this.#peek(ahead + 1) === "IDENTIFIER") ahead += 2;
    if (this.#peek(ahead) === "{") {
      this.#at += ahead;
      return this.#list("}", () => this.#field(), ["?", "IDENTIFIER", "ESC_IDENTIFIER"]);
    }
    if (RESERVED.has(text)) this.#mistakes.push({ message: `reserved identifier: ${text}`, offset });
    this.#next();
    return this.#is("(") ? this.#call() : true;
  }

  /** Items between brackets, with a comma after the last one if one likes. */
  #list(close: string, item: () => void, starts: readonly string[] = [...START, "?"]): boolean {
    this.#next();
    if (!this.#is(close, ",")) {
      if (!this.#is(...starts)) {
        const kinds = [...starts, close, ","];
        this.#tell(`Syntax error: mismatched input '${this.#token.text}' expecting ${shown(kinds)}`);
        this.#within([close, ","], () => this.#recover());
        return this.#expect([close], []);
      }
      item();
      while (this.#is(",") && starts.includes(this.#peek(1))) {
        this.#next();
        item();
      }
      if (!this.#is(close, ",") && !this.#between(close)) return false;
    }
    if (this.#is(",")) {
      this.#next();
      return this.#expect([close], []);
    }
    return this.#expect([close], []);
  }

  /** After an item there is a comma, or the end of the list. */
  #between(close: string): boolean {
    const kinds = [close, ","];
    const { text, kind } = this.#token;
    if (kind !== "<EOF>" && kinds.includes(this.#peek(1))) {
      this.#tell(`Syntax error: extraneous input '${text}' expecting ${shown(kinds)}`);
      this.#lost = true;
      this.#at++;
      return true;
    }
    this.#tell(`Syntax error: mismatched input '${text}' expecting ${shown(kinds)}`);
    this.#recover();
    return false;
  }

  #item(close: string): void {
    if (this.#is("?")) this.#next();
    this.#within([",", close], () => this.#whole());
  }

  #entry(): void {
    if (this.#is("?")) this.#next();
    this.#within([":"], () => this.#whole());
    if (this.#expect([":"], START)) this.#within([",", "}"], () => this.#whole());
  }

  #field(): void {
    if (this.#is("?")) this.#next();
    this.#expect(["IDENTIFIER", "ESC_IDENTIFIER"], []);
    if (this.#expect([":"], START)) this.#within([",", "}"], () => this.#whole());
  }
}

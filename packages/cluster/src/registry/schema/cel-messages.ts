import { lookup } from "@lotse/client/meta";
import type { TypeError as CheckError, EvaluationError, ParseError } from "@marcbachmann/cel-js";
import type { CelMistake } from "./cel-tokens.ts";

/** The text that a user wrote, and where a place of what the engine got is in it. */
export interface CelSource {
  readonly text: string;
  readonly at: (offset: number) => number;
}

/** An expression that stands as it was written. */
export const plainSource = (text: string): CelSource => ({ text, at: (offset) => offset });

/** Mistakes as the server prints them, one below the other. */
export function tellMistakes({ text, at }: CelSource, mistakes: readonly CelMistake[]): string {
  return mistakes.map(({ message, offset }) => complaint(text, message, at(offset))).join("\n");
}

/** The engine knows `cel.bind`, which the server does not: there neither the name nor what it binds is declared. */
export function boundVariables(expression: string): CelMistake[] | undefined {
  const match = /(?<![\w.])cel\.bind\(\s*([A-Za-z_]\w*)/.exec(expression);
  if (!match) return undefined;
  const [, name = ""] = match;
  const undeclared = (what: string, offset: number): CelMistake => ({
    message: `undeclared reference to '${what}' (in container '')`,
    offset,
  });
  const uses = [...expression.matchAll(new RegExp(`(?<![\\w.'"])${name}(?![\\w'"(])`, "g"))];
  return [
    undeclared("cel", match.index),
    undeclared("bind", match.index + "cel.bind".length),
    ...uses.map((use) => undeclared(name, use.index)),
  ];
}

/** Whether there is any function of this name. */
type Declared = (name: string | undefined) => boolean;

/** A mistake as the server prints it: place, problem, the line, and a mark under the place. */
export function complaint(expression: string, message: string, offset: number): string {
  const before = expression.slice(0, offset);
  const line = before.split("\n").length;
  const column = [...before.slice(before.lastIndexOf("\n") + 1)].length;
  const text = (expression.split("\n")[line - 1] ?? "").replaceAll("\t", " ");
  const letters = [...text];
  // Under a letter that is wide in UTF-8 stands a wide mark.
  const isWide = (letter: string | undefined): boolean => letter !== undefined && (letter.codePointAt(0) ?? 0) > 0x7f;
  const dots = letters.slice(0, column).map((letter) => (isWide(letter) ? "．" : "."));
  const mark = isWide(letters[column]) ? "＾" : "^";
  return `ERROR: <input>:${line}:${column + 1}: ${message}\n | ${text}\n | ${dots.join("")}${mark}`;
}

/** What the engine found, in the words of the server. */
export function translate(
  expression: string,
  error: CheckError | ParseError | EvaluationError,
  declared: Declared,
): CelMistake {
  const start = error.node?.pos ?? error.range?.start ?? 0;
  const call = (from: number) => Math.max(expression.indexOf("(", from), from);
  switch (error.code) {
    case "no_such_key":
      return {
        message: `undefined field '${error.summary.replace(/^No such key: /, "")}'`,
        offset: Math.max(start - 1, 0),
      };
    case "unknown_variable": {
      const name = error.summary.replace(/^Unknown variable: /, "");
      return { message: `undeclared reference to '${name}' (in container '')`, offset: start };
    }
    case "no_such_overload": {
      const match = /^no such overload: (.+) (\S+) (.+)$/.exec(error.summary);
      if (!match) break;
      const [, left, operator = "", right] = match;
      const args = error.node?.args as { range?: { end: number } }[] | undefined;
      const at = expression.indexOf(operator, args?.[0]?.range?.end ?? start);
      const message = `found no matching overload for '_${operator}_' applied to '(${left}, ${right})'`;
      return { message, offset: at < 0 ? start : at };
    }
    case "no_matching_overload": {
      const match = /^found no matching overload for '(?:(.+)\.)?(\w+)\((.*)\)'$/.exec(error.summary);
      if (!match) break;
      const [, receiver, name, args = ""] = match;
      const applied = receiver === undefined ? `(${args})` : `${receiver}.(${args})`;
      const from = expression.indexOf(`${name}(`, start);
      const message = declared(name)
        ? `found no matching overload for '${name}' applied to '${applied}'`
        : `undeclared reference to '${name}' (in container '')`;
      return { message, offset: call(from < 0 ? start : from) };
    }
  }
  const missing = /^Expected (RPAREN|RBRACKET|RBRACE), got EOF$/.exec(error.summary)?.[1];
  const closing = lookup({ RPAREN: ")", RBRACKET: "]", RBRACE: "}" }, missing ?? "");
  return { message: `Syntax error: ${closing ? `missing '${closing}' at '<EOF>'` : error.summary}`, offset: start };
}

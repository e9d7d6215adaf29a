// Finds the imports of a TypeScript or JavaScript file with a small scanner: comments, strings, templates and regular
// expressions are understood well enough that text which only looks like an import is never taken for one.

/**
 * @typedef {object} Import
 * @property {string} specifier what is imported
 * @property {number} line      where, from 1
 * @property {boolean} type     erased before the code runs (`import type`, `export type`, `typeof import()` in a type)
 * @property {boolean} dynamic  `import()` at run time
 */

/** @returns {Import[]} */
export function findImports(text) {
  const tokens = tokenize(text);
  const found = [];
  for (let i = 0; i < tokens.length; i++) {
    const token = tokens[i];
    if (token.kind !== "word" || tokens[i - 1]?.text === ".") continue;
    const next = tokens[i + 1];
    if (token.text === "from" && next?.kind === "string") {
      found.push({ specifier: next.text, line: next.line, type: isTypeOnly(tokens, i), dynamic: false });
    } else if (token.text === "import" && next?.kind === "string") {
      found.push({ specifier: next.text, line: next.line, type: false, dynamic: false });
    } else if ((token.text === "import" || token.text === "require") && next?.text === "(") {
      const target = tokens[i + 2];
      if (target?.kind !== "string") continue;
      // `import("x").Name` in a type is erased, and `import("x")` as an expression is not. Only the second can be
      // awaited, returned, chained or called upon; the first is followed by a name that starts with a capital.
      const erased =
        tokens[i - 1]?.text === "typeof" || (tokens[i + 4]?.text === "." && /^[A-Z]/.test(tokens[i + 5]?.text ?? ""));
      found.push({ specifier: target.text, line: target.line, type: erased, dynamic: !erased });
    }
  }
  return found;
}

/** Walks back from `from` to the `import` or `export` that it belongs to. */
function isTypeOnly(tokens, from) {
  let i = from;
  while (i > 0 && !(tokens[i].kind === "word" && (tokens[i].text === "import" || tokens[i].text === "export"))) i--;
  if (tokens[i + 1]?.text === "type" && i + 1 < from && tokens[i + 2]?.text !== ",") return i + 2 < from;
  // `import { type A, type B } from` leaves nothing behind when each name is a type.
  if (tokens[i + 1]?.text !== "{") return false;
  let expectName = true;
  for (let k = i + 2; k < from && tokens[k].text !== "}"; k++) {
    if (expectName && tokens[k].text !== "type") return false;
    expectName = tokens[k].text === ",";
  }
  return tokens[i + 2]?.text !== "}";
}

const wordStart = /[\p{ID_Start}$_#@]/u;
const wordPart = /[\p{ID_Continue}$\u200c\u200d]/u;
/** After these a slash starts a regular expression, after any other word or closing bracket it divides. */
const beforeExpression = new Set([
  "return",
  "typeof",
  "case",
  "in",
  "of",
  "delete",
  "void",
  "throw",
  "new",
  "else",
  "await",
  "yield",
]);

function tokenize(text) {
  const tokens = [];
  /** For each open `${`: how many braces are open inside it. */
  const templates = [];
  let line = 1;
  let i = 0;
  const push = (kind, value) => tokens.push({ kind, text: value, line });
  const skipTo = (end) => {
    for (; i < end && i < text.length; i++) if (text[i] === "\n") line++;
  };
  /** Reads template text from `i` to the closing backtick or the next `${`. */
  const template = () => {
    while (i < text.length) {
      if (text[i] === "\\") skipTo(i + 2);
      else if (text[i] === "`") {
        i++;
        return;
      } else if (text[i] === "$" && text[i + 1] === "{") {
        i += 2;
        templates.push(0);
        return;
      } else skipTo(i + 1);
    }
  };
  if (text.startsWith("#!")) skipTo(lineEnd(text, 0));
  while (i < text.length) {
    const c = text[i];
    if (c === "/" && text[i + 1] === "/") skipTo(lineEnd(text, i));
    else if (c === "/" && text[i + 1] === "*") {
      const end = text.indexOf("*/", i + 2);
      skipTo(end < 0 ? text.length : end + 2);
    } else if (c === '"' || c === "'") {
      let end = i + 1;
      while (end < text.length && text[end] !== c && text[end] !== "\n") end += text[end] === "\\" ? 2 : 1;
      push("string", text.slice(i + 1, end));
      skipTo(end + 1);
    } else if (c === "`") {
      push("template", "`");
      i++;
      template();
    } else if (c === "{" || c === "}") {
      const depth = templates.length - 1;
      if (c === "}" && depth >= 0 && templates[depth] === 0) {
        templates.pop();
        i++;
        template();
        continue;
      }
      if (depth >= 0) templates[depth] += c === "{" ? 1 : -1;
      push("sign", c);
      i++;
    } else if (c === "/" && startsRegExp(tokens.at(-1))) {
      skipTo(regExpEnd(text, i));
      push("regexp", "/");
    } else if (wordStart.test(c)) {
      let end = i + 1;
      while (end < text.length && wordPart.test(text[end])) end++;
      push("word", text.slice(i, end));
      i = end;
    } else {
      if (c === "\n") line++;
      else if (c.trim() !== "") push("sign", c);
      i++;
    }
  }
  return tokens;
}

function lineEnd(text, from) {
  const end = text.indexOf("\n", from);
  return end < 0 ? text.length : end;
}

function startsRegExp(before) {
  if (before === undefined) return true;
  if (before.kind === "word") return beforeExpression.has(before.text);
  return before.kind === "sign" && !/[)\]}\d]/.test(before.text);
}

function regExpEnd(text, from) {
  let inClass = false;
  for (let i = from + 1; i < text.length; i++) {
    if (text[i] === "\n") return from + 1; // it was a division after all
    if (text[i] === "\\") i++;
    else if (text[i] === "[") inClass = true;
    else if (text[i] === "]") inClass = false;
    else if (text[i] === "/" && !inClass) return i + 1;
  }
  return text.length;
}

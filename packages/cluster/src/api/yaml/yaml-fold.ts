/** Behind this column a text goes on in the next line, from the next blank on. */
const WIDTH = 80;

/** The beginning of a line: its indentation, the marks of lists, and a key; the rest is a value. */
const BEGINNING =
  /^( *(?:- )*)((?:"(?:[^"\\]|\\.)*"|'(?:[^']|'')*'|[^\s"'[{|>&*!%#@`-][^:]*?(?::(?! )[^:]*?)*|-[^\s:][^:]*?(?::(?! )[^:]*?)*):(?: |$))?/;
const BLOCK = /^\|\d?[+-]?$/;

/**
 * Folds the long texts of a YAML document in which every text has a line of its own, as a real server's writer does it: at
 * the first blank behind the 80th column. Blocks of several lines stay as they are; numbers and far characters get the
 * spelling of that writer, too.
 */
export function foldYaml(yaml: string): string {
  const lines = yaml.split("\n");
  const folded: string[] = [];
  for (let i = 0; i < lines.length; i++) {
    const line = respell(lines[i] as string);
    const [, before = "", key = ""] = BEGINNING.exec(line) ?? [];
    const start = before.length + key.length;
    if (BLOCK.test(line.slice(start))) {
      // A block that begins with an empty line says how far it is indented.
      folded.push(lines[i + 1] === "" ? line.replace(/\|(?=[+-]?$)/, "|2") : line);
      const edge = key === "" ? before.length - 2 : before.length;
      while (i + 1 < lines.length && isInBlock(lines[i + 1] as string, edge)) folded.push(lines[++i] as string);
    } else
      folded.push(line.length > WIDTH ? foldLine(line, start, key === "" ? before.length : before.length + 2) : line);
  }
  return folded.join("\n");
}

const FAR = /[\u{10000}-\u{10ffff}]/gu;

/** `1.e+21` is `1e+21` there and `1e-7` is `1e-07`, and characters beyond the first 65,536, which stand in double quotes only, are escaped. */
function respell(line: string): string {
  const number = line.replace(
    /((?:^|: |- )-?\d+(?:\.\d+)?)\.?e([+-])(\d+)$/,
    (_, digits, sign, exponent) => `${digits}e${sign}${exponent.padStart(2, "0")}`,
  );
  return number.replace(FAR, (far) => `\\U${(far.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(8, "0")}`);
}

/** Lines of a block are indented more than what it belongs to, or empty; the very last line is no line. */
function isInBlock(line: string, edge: number): boolean {
  return line === "" || line.search(/[^ ]/) > edge || line.trim() === "";
}

function foldLine(line: string, start: number, indent: number): string {
  const quote = line[start] === '"' || line[start] === "'" ? line[start] : "";
  const first = start + quote.length;
  const last = line.length - quote.length - 1;
  let result = line.slice(0, first);
  let column = [...result].length;
  let afterBlank = false;
  for (let i = first; i < line.length; ) {
    const character = String.fromCodePoint(line.codePointAt(i) as number);
    const isBlank = character === " ";
    // Texts in double quotes may break before several blanks: the next one is then escaped.
    const mayBreak = quote === '"' || line[i + 1] !== " ";
    if (isBlank && !afterBlank && column > WIDTH && i > first && i < last && mayBreak) {
      result += `\n${" ".repeat(indent)}`;
      column = indent;
      if (line[i + 1] === " ") {
        result += "\\";
        column++;
      }
    } else {
      result += character;
      column++;
    }
    afterBlank = isBlank;
    i += character.length;
  }
  return result;
}

const LETTER = /^\p{L}$/u;
const DIGIT = /^\p{Nd}$/u;

/**
 * The order in which a real server's writer of YAML puts keys: letters after everything else, and numbers inside of names
 * by their value, so that `a2` comes before `a10`.
 */
export function compareKeys(a: string, b: string): number {
  const [left, right] = [[...a], [...b]];
  for (let i = 0; i < left.length && i < right.length; i++) {
    const [x, y] = [left[i] as string, right[i] as string];
    if (x === y) continue;
    const [xLetter, yLetter] = [LETTER.test(x), LETTER.test(y)];
    if (xLetter && yLetter) return byCodePoint(x, y);
    if (xLetter || yLetter) return yLetter ? -1 : 1;
    // A zero after other digits counts as one of their number, not as the beginning of a new one.
    const lead = (x === "0" || y === "0") && followsNumber(left, i) ? "1" : "";
    const [m, n] = [digitsAt(left, i), digitsAt(right, i)];
    const difference = Number(lead + m || 0) - Number(lead + n || 0);
    if (difference !== 0) return difference;
    return m.length !== n.length ? m.length - n.length : byCodePoint(x, y);
  }
  return left.length - right.length;
}

const byCodePoint = (a: string, b: string): number => (a.codePointAt(0) ?? 0) - (b.codePointAt(0) ?? 0);

function followsNumber(characters: readonly string[], at: number): boolean {
  for (let i = at - 1; i >= 0 && DIGIT.test(characters[i] as string); i--) if (characters[i] !== "0") return true;
  return false;
}

function digitsAt(characters: readonly string[], at: number): string {
  let end = at;
  while (end < characters.length && DIGIT.test(characters[end] as string)) end++;
  return characters.slice(at, end).join("");
}

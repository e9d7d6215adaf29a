// What a page says that a program prints, against what it prints.

/** The first difference, as a sentence; undefined when there is none. `…` stands for any text within a line. */
export function printProblem(said, printed) {
  const [wanted, got] = [said, printed].map((text) => text.trimEnd().split("\n"));
  for (let i = 0; i < Math.max(wanted.length, got.length); i++) {
    if (wanted[i] !== undefined && got[i] !== undefined && patternOf(wanted[i]).test(got[i])) continue;
    const shown = (line) => (line === undefined ? "nothing" : JSON.stringify(line));
    return `line ${i + 1} is ${shown(got[i])}, and the page says ${shown(wanted[i])}`;
  }
  return undefined;
}

function patternOf(line) {
  const literal = (text) => text.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&");
  return new RegExp(`^${line.split("…").map(literal).join(".*")}$`);
}

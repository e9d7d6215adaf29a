import { packageLines } from "./packages.ts";

/** The rest of each line of a table by the word that it starts with. */
export function linesByName(text: string): Map<string, string> {
  const lines = new Map<string, string>();
  for (const line of text.trim().split("\n")) {
    const blank = line.indexOf(" ");
    if (blank < 0) lines.set(line, "");
    else lines.set(line.slice(0, blank), line.slice(blank + 1));
  }
  return lines;
}

/** Turns the short names of the tables ("core.v1.Pod") into full ones ("io.k8s.api.core.v1.Pod"). */
export function createNameExpander(): (short: string) => string {
  const packages = linesByName(packageLines);
  return (short) => {
    const dot = short.lastIndexOf(".");
    const full = packages.get(short.slice(0, dot));
    if (full === undefined) throw new Error(`The tables have no package for ${short}`);
    return full + short.slice(dot);
  };
}

// Which specs there are, by the names that upstream gives them.

/** The group of people who keep a spec: `sig-apps`. */
export function sigOf(spec: string): string {
  return /\[(sig-[a-z-]+)\]/.exec(spec)?.[1] ?? "no sig";
}

/** Reads the list of specs that must pass: one in a line, in groups under `# sig-apps`. */
export function parseList(text: string): string[] {
  const specs = text
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "" && !line.startsWith("#"));
  const seen = new Set<string>();
  for (const spec of specs) {
    if (seen.has(spec)) throw new Error(`The list of specs names one twice: ${spec}`);
    seen.add(spec);
  }
  return specs;
}

/** What belongs to each group of people, the groups in order of their names. */
export function bySig<T>(items: Iterable<T>, specOf: (item: T) => string): [string, T[]][] {
  const groups = new Map<string, T[]>();
  for (const item of items) {
    const sig = sigOf(specOf(item));
    groups.set(sig, [...(groups.get(sig) ?? []), item]);
  }
  return [...groups].sort(([a], [b]) => (a < b ? -1 : 1));
}

/** Writes such a list. */
export function formatList(specs: Iterable<string>, head: readonly string[]): string {
  const parts = bySig([...specs].sort(), (spec) => spec).map(
    ([sig, group]) => `\n# ${sig}: ${group.length}\n${group.join("\n")}\n`,
  );
  return `${head.map((line) => `# ${line}\n`).join("")}${parts.join("")}`;
}

/** Finds the conformance specs in what the suite answers to `--list-tests`. */
export function parseListing(output: string): string[] {
  return output
    .split("\n")
    .map((line) => /\.go:\d+: (.*)$/.exec(line)?.[1] ?? "")
    .filter((spec) => spec.includes("[Conformance]"));
}

/** The expression by which the suite, which puts its own name before them, picks exactly these specs. */
export function focusOf(specs: readonly string[]): string {
  const quoted = specs.map((spec) => spec.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
  return ` (${quoted.join("|")})$`;
}

/** Deals specs out to several runners. Neighbours in the list often take as long as each other, so they are parted. */
export function deal(specs: readonly string[], runners: number): string[][] {
  const hands = Array.from({ length: Math.max(1, Math.min(runners, specs.length)) }, (): string[] => []);
  for (const [i, spec] of specs.entries()) hands[i % hands.length]?.push(spec);
  return hands;
}

/** How one spec ended. */
export interface Outcome {
  readonly spec: string;
  readonly state: "passed" | "failed" | "skipped" | "too slow";
  readonly seconds: number;
  /** Why it failed. */
  readonly message?: string;
}

interface SpecReport {
  readonly ContainerHierarchyTexts: readonly string[] | null;
  readonly LeafNodeType: string;
  readonly LeafNodeText: string;
  readonly State: string;
  /** Nanoseconds. */
  readonly RunTime: number;
  readonly Failure?: { readonly Message?: string; readonly Location?: { FileName?: string; LineNumber?: number } };
}

/** Reads the suite's report: the outcome of each of these specs that came to its turn. */
export function readReport(json: string, wanted: ReadonlySet<string>): Outcome[] {
  const suites = JSON.parse(json) as { SpecReports: SpecReport[] | null }[];
  return suites
    .flatMap(({ SpecReports }) => SpecReports ?? [])
    .flatMap((report): Outcome[] => {
      const spec = [...(report.ContainerHierarchyTexts ?? []), report.LeafNodeText].join(" ");
      if (report.LeafNodeType !== "It" || !wanted.has(spec)) return [];
      const seconds = report.RunTime / 1e9;
      const message = told(report.Failure);
      if (report.State === "passed") return [{ spec, state: "passed", seconds }];
      // One that skips itself says why; one that was never begun says nothing.
      if (report.State === "skipped") return message ? [{ spec, state: "skipped", seconds, message }] : [];
      const state = report.State === "interrupted" ? "too slow" : "failed";
      return [{ spec, state, seconds, ...(message && { message }) }];
    });
}

function told({ Message = "", Location = {} }: NonNullable<SpecReport["Failure"]> = {}): string {
  if (Message === "") return "";
  const file = Location.FileName?.replace(/^.*\/test\/e2e\//, "") ?? "";
  return `${Message.trim()}${file === "" ? "" : ` (${file}:${Location.LineNumber})`}`;
}

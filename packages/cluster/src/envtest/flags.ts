/** Reads the command line of a stand-in: Go's way of writing flags, and what each of them does here. Pure. */

/** What a program makes of a flag: it uses it, or it knows that the real program has it and does nothing about it. */
export type FlagUse = "used" | "ignored";

/** A flag that a program knows. */
export interface Flag {
  readonly use: FlagUse;
  /** Stands alone: `--name` means `--name=true`, and the next word is none of its. */
  readonly boolean?: boolean;
  /** What it does, for `--help`. */
  readonly help?: string;
}

/** The flags of a program by name, and name beginnings of whole families that it ignores. */
export interface FlagTable {
  readonly flags: ReadonlyMap<string, Flag>;
  readonly ignoredPrefixes?: readonly string[];
}

/** A command line that was understood. */
export interface FlagValues {
  /** All values of a flag that is used, in their order; empty when it was not given. */
  all(name: string): readonly string[];
  /** The last value of a flag, which is the one that counts. */
  last(name: string): string | undefined;
  /** Everything that was given, by name; several values of one are joined by commas. */
  readonly given: Readonly<Record<string, string>>;
  /** Names of flags that were given and have no effect here, each once. */
  readonly ignored: readonly string[];
}

/** Reads flags; a text in place of the values says what is wrong with them. */
export function readFlags(argv: readonly string[], table: FlagTable): FlagValues | string {
  const values = new Map<string, string[]>();
  const ignored = new Set<string>();
  const given: [string, string][] = [];
  for (let i = 0; i < argv.length; i++) {
    const word = argv[i] as string;
    const match = /^--?([A-Za-z][\w.-]*)(?:=([\s\S]*))?$/.exec(word);
    if (!match) return `${JSON.stringify(word)} is no flag, and there are no other arguments`;
    const name = (match[1] as string).replaceAll("_", "-");
    const flag = find(table, name);
    if (!flag) return `unknown flag: --${name}`;
    let value = match[2];
    if (value === undefined && flag.boolean) value = "true";
    if (value === undefined) {
      const next = argv[i + 1];
      if (next === undefined) return `flag needs an argument: --${name}`;
      i++;
      value = next;
    }
    if (flag.boolean && !/^(?:true|false|t|f|1|0)$/i.test(value)) {
      return `invalid argument ${JSON.stringify(value)} for "--${name}" flag: it is true or false`;
    }
    given.push([name, value]);
    if (flag.use === "ignored") ignored.add(name);
    else values.set(name, [...(values.get(name) ?? []), value]);
  }
  return {
    all: (name) => values.get(name) ?? [],
    last: (name) => values.get(name)?.at(-1),
    given: joined(given),
    ignored: [...ignored],
  };
}

function joined(given: readonly (readonly [string, string])[]): Record<string, string> {
  const names = new Set(given.map(([name]) => name));
  const valuesOf = (wanted: string) => given.filter(([name]) => name === wanted).map(([, value]) => value);
  return Object.fromEntries([...names].map((name) => [name, valuesOf(name).join(",")]));
}

function find({ flags, ignoredPrefixes = [] }: FlagTable, name: string): Flag | undefined {
  const known = flags.get(name);
  if (known) return known;
  return ignoredPrefixes.some((prefix) => name.startsWith(prefix)) ? { use: "ignored" } : undefined;
}

/** Whether the caller only wants to know what there is. */
export function wantsHelp(argv: readonly string[]): boolean {
  return argv.some((word) => /^(?:--?help|-h)$/.test(word));
}

/** What `--help` prints: one line for each flag that is used, beginning with the flag, as those who ask look for it there. */
export function helpText(program: string, what: string, { flags }: FlagTable): string {
  const used = [...flags].filter(([, flag]) => flag.use === "used");
  const width = Math.max(...used.map(([name]) => name.length));
  const lines = used.map(([name, { help = "" }]) => `  --${name.padEnd(width)}  ${help}`);
  return [
    `${program}: ${what}`,
    "",
    "Flags:",
    ...lines,
    "",
    "Other flags of the real program are taken, and told on standard error: they have no effect.",
  ].join("\n");
}

/** The parts of values that are lists, as `a,b` or given several times. */
export function listOf(values: readonly string[]): string[] {
  return values
    .flatMap((value) => value.split(","))
    .map((item) => item.trim())
    .filter((item) => item !== "");
}

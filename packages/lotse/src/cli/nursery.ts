/**
 * How V8 is to use memory in a process that is an operator's and nothing else's.
 *
 * New objects live in a nursery that V8 lets grow to 16 MB, three times over, whatever the operator holds: a quarter of
 * the memory of a small one. What an operator makes is garbage as soon as a turn is over, hence a nursery that stays
 * small is collected more often and costs hardly more. Only `lotse run` does this: who calls `operator.run()` in a
 * program of their own decides about that program. docs/decisions/0019 has the figures.
 */

/** What a process was started with. */
export interface Started {
  /** Without the program's name. */
  readonly argv: readonly string[];
  readonly execArgv: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Of Node.js: "22.1.0". */
  readonly version: string;
}

/** The versions that were measured; another one may not know the flag, and would complain to the user. */
const MEASURED = new Set(["20", "22", "24"]);

/**
 * The flag that keeps the nursery as small as it begins; undefined where it is not ours to decide, since somebody has
 * said how large it is to be.
 *
 * @example
 * ```ts
 * const flag = nurseryFlag({ argv: ["run", "operator.ts"], execArgv: [], env: {}, version: "22.1.0" });
 * if (flag) v8.setFlagsFromString(flag);
 * ```
 */
export function nurseryFlag({ argv, execArgv, env, version }: Started): string | undefined {
  if (argv[0] !== "run" || !MEASURED.has(version.split(".", 1)[0] ?? "")) return undefined;
  const said = [...execArgv, env.NODE_OPTIONS ?? ""].some((text) => /semi[-_]space/.test(text));
  return said ? undefined : "--semi-space-growth-factor=1";
}

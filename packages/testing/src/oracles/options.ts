/** Which promises are checked in every test, and how one of them is switched off: with the reason, beside the test. */
import { ConfigError } from "@lotse/client";

/** By name, what every operator promises; the words are those of an error that says it was broken. */
export const ORACLES = {
  idempotence: "a second pass over a quiet cluster writes nothing",
  otherUid: "no handler writes to an object that only has the name of its own",
  hotLoop: "no handler is called by its own writes again and again",
  orphans: "what was made for an object goes with it",
  leftRunning: "nothing runs when the operator has stopped",
  observedGeneration: "what is said of an object catches up with it",
  permissions: "no permission is used that the role of the operator lacks",
  mutatedInput: "handlers do not change what they are given",
  secrets: "no value of a Secret is in the log, in Events, or in a status",
} as const;

/** The name of an oracle. */
export type OracleName = keyof typeof ORACLES;

/** `"off: writes the time on purpose"` */
export type Off = `off: ${string}`;

/**
 * Which oracles are switched off, each with the reason; or all of them.
 *
 * @example
 * ```ts
 * const oracles: OracleOptions = { idempotence: "off: it writes the time on purpose" };
 * ```
 */
export type OracleOptions = Off | { readonly [Name in OracleName]?: Off };

/** The oracles that look. Throws where one is switched off without a reason, or there is none of the name. */
export function activeOracles(options: OracleOptions = {}): ReadonlySet<OracleName> {
  const names = Object.keys(ORACLES) as OracleName[];
  if (typeof options === "string") {
    checkReason("oracles", options);
    return new Set();
  }
  for (const [name, off] of Object.entries(options)) {
    if (!Object.hasOwn(ORACLES, name)) {
      throw new ConfigError(`there is no oracle ${JSON.stringify(name)}`, { hint: `there are ${names.join(", ")}` });
    }
    checkReason(`oracles.${name}`, off);
  }
  return new Set(names.filter((name) => options[name] === undefined));
}

function checkReason(place: string, off: unknown): void {
  if (off === undefined || (typeof off === "string" && /^off: *\S/.test(off))) return;
  throw new ConfigError(`${place} is ${JSON.stringify(off)}, and a reason is missing`, {
    hint: `write "off: " and why, for whoever reads the test: { ${place.split(".").at(-1)}: "off: it keeps its backups" }`,
  });
}

/** What is to be done next, of what the provider has: no more than a decision, so it can be tried without anybody. */
import type { ProviderRecord, Wanted } from "./dns.ts";

/** One act. After each of them one looks again: only what the provider has tells what was done. */
export type Act =
  | { readonly do: "create" }
  | { readonly do: "adopt" | "update" | "remove"; readonly record: ProviderRecord }
  | { readonly do: "refuse"; readonly why: string };

/** What there is to be seen. */
export interface Sight {
  /** Our mark: `operator:namespace/name`. */
  readonly owner: string;
  /** The record that is known to be ours, even if somebody has wiped its mark. */
  readonly known: string | undefined;
  /** May a record be taken over that somebody else has made? */
  readonly adopt: boolean;
  /** All that the provider has under our mark, or under the wanted name and type. */
  readonly records: readonly ProviderRecord[];
}

/**
 * The next act; undefined when there is exactly what is wanted. The wanted record comes first, and only when it is as it
 * shall be, what is left of former names goes: at no time nobody answers. A second one, made because the answer to the
 * first was lost, goes the same way.
 */
export function nextAct(wanted: Wanted | undefined, sight: Sight): Act | undefined {
  const own = sight.records.filter(({ owner }) => owner === sight.owner);
  const present = wanted && own.find((record) => isAbout(record, wanted));
  if (wanted && !present) return takeOver(wanted, sight) ?? { do: "create" };
  if (wanted && present && !isSame(present, wanted)) return { do: "update", record: present };
  const surplus = own.find((record) => record !== present);
  return surplus && { do: "remove", record: surplus };
}

/** What to do about a record of that name that does not carry our mark; undefined when there is none. */
function takeOver(wanted: Wanted, { owner, known, adopt, records }: Sight): Act | undefined {
  const record = records.find((one) => isAbout(one, wanted));
  if (!record) return undefined;
  const what = `${record.type} ${record.name}`;
  const operator = owner.slice(0, owner.indexOf(":") + 1);
  if (record.owner.startsWith(operator)) return { do: "refuse", why: `${what} belongs to ${record.owner}` };
  if (adopt || (record.owner === "" && record.id === known)) return { do: "adopt", record };
  const maker = record.owner || "somebody else";
  return { do: "refuse", why: `${what} is there already, made by ${maker}: spec.adopt takes it over` };
}

function isAbout(record: Wanted, wanted: Wanted): boolean {
  return record.name === wanted.name && record.type === wanted.type;
}

/** Whether a record is what it shall be. */
export function isSame(record: Wanted, wanted: Wanted): boolean {
  return isAbout(record, wanted) && differences(record, wanted).length === 0;
}

/** What somebody else must have done, if this had to be done without anybody wanting something new. */
export function driftOf(act: Act, wanted: Wanted): string[] {
  if (act.do === "create") return ["the record was gone"];
  if (act.do === "adopt") return ["its mark was gone", ...differences(act.record, wanted)];
  return act.do === "update" ? differences(act.record, wanted) : [];
}

/** `ttl was 60, not 300`. The order of values says nothing. */
function differences(record: Wanted, wanted: Wanted): string[] {
  const say = ({ ttl, values }: Wanted) => ({ ttl: String(ttl), values: [...values].sort().join(", ") });
  const [was, shall] = [say(record), say(wanted)];
  return (["ttl", "values"] as const)
    .filter((field) => was[field] !== shall[field])
    .map((field) => `${field} was ${was[field]}, not ${shall[field]}`);
}

/**
 * How the calls to the world outside may differ after a disturbance. The world outside cannot be looked into, so it is
 * judged by what it was told: the last word about each thing has to be the same. Nobody can help it that a call is
 * repeated when the operator dies before it could write it down; to repeat what it could have written down is a mistake,
 * and so is to make a second thing.
 */
import type { NotedCall } from "./director.ts";
import type { Plan } from "./plans.ts";
import type { Difference, Reference } from "./reference.ts";
import type { Outcome } from "./stage.ts";

interface Said {
  readonly noted: NotedCall;
  /** The function and its arguments, masked. */
  readonly text: string;
  /** What it is about. */
  readonly subject: string;
}

/** See the module comment. */
export function compareCalls(reference: Reference, found: Outcome, plan: Plan): Difference[] {
  const stable = ({ noted }: Said) => !reference.unstableCalls.has(noted.call.name);
  const wanted = saidIn(reference.outcome).filter(stable);
  const actual = saidIn(found).filter(stable);
  return [
    ...lastWords(reference.outcome, wanted, actual, plan),
    ...(plan.kind === "interrupt" ? [] : repetitions(wanted, actual, found, plan)),
  ];
}

function saidIn({ calls, mask }: Outcome): Said[] {
  return calls.map((noted) => {
    const { name, args } = noted.call;
    const masked = mask.value(args) as unknown[];
    return {
      noted,
      text: `${name}(${masked.map((one) => JSON.stringify(one)).join(", ")})`,
      subject: subjectOf(masked),
    };
  });
}

function subjectOf([first]: readonly unknown[]): string {
  if (typeof first !== "object" || first === null) return JSON.stringify(first) ?? "";
  const fields = first as Record<string, unknown>;
  const named = ["name", "id", "key"].map((key) => fields[key]).find((value) => typeof value === "string");
  return JSON.stringify(named ?? first);
}

function lastWords(outcome: Outcome, wanted: readonly Said[], actual: readonly Said[], plan: Plan): Difference[] {
  const differences: Difference[] = [];
  const skipsStates = plan.kind === "coalesce" || (plan.kind === "down" && plan.to > plan.from + 1);
  for (const subject of new Set(wanted.map((said) => said.subject))) {
    const last = wanted.filter((said) => said.subject === subject).at(-1);
    const heard = actual.filter((said) => said.subject === subject);
    if (!last) continue;
    const isGone = !isThere(outcome, last);
    if (heard.length === 0) {
      // Of what came and went unseen nobody need be told.
      if (isGone || skipsStates || plan.kind === "interrupt") continue;
      differences.push({ what: last.text, text: "was never called" });
      continue;
    }
    const at = heard.findLastIndex(({ text }) => text === last.text);
    if (at < 0 && (isGone || !skipsStates)) {
      differences.push({ what: last.text, text: `was never called, the last word was ${heard.at(-1)?.text}` });
      continue;
    }
    const later = heard.slice(at + 1).find(({ noted }) => noted.call.actor?.reason !== "delete");
    if (at >= 0 && isGone && last.noted.call.actor?.reason === "delete" && later) {
      differences.push({
        what: later.text,
        text: `was called after ${last.text}, which should have been the last word`,
      });
    }
  }
  return differences;
}

/** Whether the object is there in the end for which the call was made. */
function isThere({ objects }: Outcome, { noted }: Said): boolean {
  const { object } = noted.call.actor ?? {};
  if (!object) return true;
  const place = [object.namespace, object.name].filter(Boolean).join("/");
  return [...objects.entries()].some(
    ([key, [body]]) => key.endsWith(` ${place}`) && (body as { kind?: string } | undefined)?.kind === object.kind,
  );
}

function repetitions(
  wanted: readonly Said[],
  actual: readonly Said[],
  { fired, trace }: Outcome,
  plan: Plan,
): Difference[] {
  const differences: Difference[] = [];
  for (const text of new Set(actual.map((said) => said.text))) {
    const [first, ...again] = actual.filter((said) => said.text === text);
    const asOften = wanted.filter((said) => said.text === text).length;
    if (!first || again.length < Math.max(1, asOften)) continue;
    const { call } = first.noted;
    if (call.idempotent) continue;
    const count = again.length + 1;
    if (call.once) {
      differences.push({ what: text, text: `was called ${count} times, and is said to be called once` });
      continue;
    }
    const other = again.map(({ noted }) => noted).find((noted) => areTwo(call.answer, noted.call.answer));
    if (asOften === 1 && other) {
      differences.push({
        what: text,
        text: `was called ${count} times, and has made two things: ${made(call.answer)} and ${made(other.call.answer)}`,
      });
      continue;
    }
    const isLevel = call.actor?.type !== "change" || call.actor.reason === "delete";
    if (isLevel || asOften !== 1 || !fired || plan.kind === "down") continue;
    const couldTell = trace.writes.find(
      ({ done, actor }) =>
        done !== undefined &&
        (done.status ?? 500) < 400 &&
        done.order > first.noted.order &&
        done.order <= fired.order &&
        (actor === undefined || actor.name === call.actor?.object?.name),
    );
    if (!couldTell) continue;
    differences.push({
      what: text,
      text: `was called ${count} times, though "${couldTell.label}" could have told that it was done: write it down at once (step), look before, or say external(fn, { idempotent: true })`,
    });
  }
  return differences;
}

type Answer = NotedCall["call"]["answer"];

function areTwo(one: Answer, other: Answer): boolean {
  const [here, there] = [made(one), made(other)];
  return here !== undefined && there !== undefined && here !== there;
}

/** The name of what a call has made, if its answer tells. */
function made(answer: Answer): string | undefined {
  if (!answer || !("value" in answer)) return undefined;
  const { value } = answer;
  if (typeof value === "string") return value;
  if (typeof value !== "object" || value === null) return undefined;
  const { id, name, key, arn } = value as Record<string, unknown>;
  return [id, arn, name, key].find((one) => typeof one === "string") as string | undefined;
}

/** Whether a second pass over a quiet cluster has changed anything. Pure. */
import type { Operator } from "lotse";
import { differenceLines, isNote, leafDifferences, maskObjects, type StoredBody, titleOf } from "../objects/index.ts";
import { by } from "./judge-writes.ts";
import type { Violation } from "./violation.ts";
import type { SeenWrite } from "./witness.ts";

/** Handlers that run when they please: what they write says nothing about a second pass. */
const BY_THEMSELVES = new Set(["timer", "daemon", "event", "failure"]);

/** Whether anything of the operator runs again for objects that it has handled. */
export function hasSecondPass({ resources }: Pick<Operator, "resources">): boolean {
  return resources.some(({ handlers }) =>
    handlers.some((handler) => {
      return handler.type === "reconcile" || (handler.type === "change" && handler.reasons.has("resume"));
    }),
  );
}

/** What the second pass has changed, written by handlers that ought to have found nothing to do. */
export function changesOfSecondPass(
  before: readonly StoredBody[],
  after: readonly StoredBody[],
  writes: readonly SeenWrite[],
  operators: readonly Pick<Operator, "resources">[],
): Violation[] {
  const were = new Map(before.map((body) => [body.metadata.uid, body]));
  const are = new Map(after.map((body) => [body.metadata.uid, body]));
  const changed = [...new Set([...were.keys(), ...are.keys()])].filter((uid) => {
    const body = are.get(uid) ?? were.get(uid);
    if (body === undefined || isNote(body)) return false;
    return were.get(uid)?.metadata.resourceVersion !== are.get(uid)?.metadata.resourceVersion;
  });
  const types = typesOf(operators);
  return changed.flatMap((uid) => {
    const [was, is] = [were.get(uid), are.get(uid)];
    const who = writes.find(({ actor, object }) => {
      if (object.uid !== uid || !actor || actor.handlers.length === 0) return false;
      return actor.handlers.every((id) => types.has(id) && !BY_THEMSELVES.has(types.get(id) ?? ""));
    });
    if (!who) return [];
    const title = titleOf((is ?? was) as StoredBody);
    const what =
      was && is
        ? [`changes ${title} although nothing has happened:`, ...lines(was, is)]
        : [`${is ? "makes" : "deletes"} ${title} although nothing has happened`];
    return [
      {
        oracle: "idempotence" as const,
        what: `after a restart ${by(who.actor)} ${what.join("\n  ")}`,
        todo: "write what shall be, so that it is the same the next time: no times, no counters, no random values",
      },
    ];
  });
}

function lines(was: StoredBody, is: StoredBody): string[] {
  const [one] = Object.values(maskObjects([was]));
  const [other] = Object.values(maskObjects([is]));
  const found = differenceLines(leafDifferences(one, other), 5);
  return found.length > 0 ? found : ["(only times differ)"];
}

function typesOf(operators: readonly Pick<Operator, "resources">[]): ReadonlyMap<string, string> {
  const types = new Map<string, string>();
  for (const { resources } of operators) {
    for (const { handlers } of resources) for (const { id, type } of handlers) types.set(id, type);
  }
  return types;
}

/** What operator.py is in Kopf, in Lotse: the same handlers under the same ids. */
import { absent, kopf, Operator, parseDuration, TemporaryError } from "lotse";
import { type Berth, type Call, notes } from "./berths.ts";

/** An operator for the kind of `berth` that tells `journal` its calls. */
export function lotseOperator(berth: Berth, journal: (call: Call) => void): Operator {
  const operator = new Operator({ name: "handover", persistence: kopf(berth.options), events: "none" });
  const { selector, section } = berth;
  // Of a lone object nothing is handled at its creation but by the handlers that it asks for.
  const labels = { lone: absent } as const;
  const note = (id: string, seen: Pick<Call, "name" | "reason"> & { retry?: number }, diff: Call["diff"] = []) =>
    journal({ id, name: seen.name, reason: seen.reason, retry: seen.retry ?? null, diff });
  const failAsNoted = (annotations: Readonly<Record<string, string>>, retry: number) => {
    if (retry < Number(annotations[notes.failures] ?? 0)) {
      throw new TemporaryError("not yet", { delay: parseDuration(`${annotations[notes.delay]}s`) });
    }
  };
  const plain = (diff: readonly { op: string; path: readonly string[]; old: unknown; new: unknown }[]) =>
    diff.map(({ op, path, old, new: now }) => [op, path, old ?? null, now ?? null] as const);

  operator.on.create(selector, { id: "create_fn", labels }, (seen) => note("create_fn", seen));
  operator.on.update(selector, { id: "update_fn" }, (seen) => note("update_fn", seen, plain(seen.diff)));
  operator.on(["create", "update"], selector, { id: "publish", labels }, (seen) => {
    note("publish", seen);
    return { size: (seen.body as unknown as Record<string, { size?: unknown } | undefined>)[section]?.size };
  });
  operator.on.field(selector, { id: "grow", field: `${section}.size`, labels }, (seen) => {
    note(`grow/${section}.size`, seen, plain(seen.diff));
  });
  operator.on(["create", "update"], selector, { id: "flaky", labels: { flaky: "yes" } }, (seen) => {
    note("flaky", seen);
    failAsNoted(seen.annotations, seen.retry);
  });
  operator.on.create(
    selector,
    { id: "parts", labels: { parts: "yes" } },
    async ({ name, reason, annotations, step }) => {
      await step("hull", () => note("parts/hull", { name, reason }));
      await step("sail", () => {
        note("parts/sail", { name, reason });
        if (annotations[notes.failsIn] === "lotse") {
          throw new TemporaryError("not here", { delay: parseDuration(`${annotations[notes.delay]}s`) });
        }
      });
    },
  );
  operator.on.resume(selector, { id: "resume_fn", labels: { resume: "yes" } }, (seen) => note("resume_fn", seen));
  operator.on.delete(selector, { id: "delete_fn" }, (seen) => note("delete_fn", seen));
  operator.on.delete(selector, { id: "flaky_delete", labels: { "flaky-delete": "yes" } }, (seen) => {
    note("flaky_delete", seen);
    failAsNoted(seen.annotations, seen.retry);
  });
  return operator;
}

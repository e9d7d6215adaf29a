/**
 * A child that does not look like what was applied. Before anything is written the server is asked: what it has made of
 * our own values is no drift. What another client has changed is repaired, or kept, as the declaration says; and a
 * client that keeps changing it back is given way to, more and more slowly.
 */
import { type KubeBody, KubeObject } from "@lotse/client";
import { formatDuration } from "@lotse/client/meta";
import { type Drift, type DriftAnswer, type DriftedField, deepFreeze, PermanentError } from "../../declare/index.ts";
import { afterOwnChange, CALM, cooledDown, digestOf } from "../../turn/index.ts";
import type { Keeping, WantedObject } from "./keeping.ts";
import { childText, tellChild } from "./tell.ts";

/** What to do about a drift, as the declaration answers; told once for each drift that is kept. */
export async function answerDrift(
  keeping: Keeping,
  wanted: WantedObject,
  live: KubeBody,
  fields: readonly DriftedField[],
): Promise<DriftAnswer> {
  const { handler, context, reader } = keeping;
  const { onDrift = "repair" } = handler.children ?? {};
  const answer = typeof onDrift === "function" ? await ask(keeping, wanted, live, fields) : onDrift;
  if (answer === "repair") return answer;
  const kept = digestOf({ fields } as never);
  if (reader.notes.get(wanted.key)?.kept !== kept) {
    const { key, kind, manifest } = wanted;
    reader.notes.set(key, { kept });
    const what = childText(kind, manifest, context.namespace);
    tellChild(keeping, "drifted", what, { fields: fields.map(({ path }) => path), by: managersIn(fields) });
  }
  return answer;
}

async function ask(
  { handler, context }: Keeping,
  { key, view, kind }: WantedObject,
  live: KubeBody,
  fields: readonly DriftedField[],
): Promise<DriftAnswer> {
  const { onDrift } = handler.children ?? {};
  if (typeof onDrift !== "function") return "repair";
  const body = deepFreeze(live) as KubeBody;
  const child = view.kindClass ? new view.kindClass(body) : new KubeObject(body, undefined, kind);
  const drift: Drift = { key, child, fields, by: managersIn(fields) };
  const answer = (await onDrift(drift, context)) ?? "repair";
  if (answer === "repair" || answer === "keep") return answer;
  throw new PermanentError(`onDrift answered ${JSON.stringify(answer)}: return "repair", "keep" or nothing`);
}

/** All who have changed something. */
export function managersIn(fields: readonly DriftedField[]): string[] {
  return [...new Set(fields.flatMap(({ by }) => by))];
}

/** How long the repair of a child has to wait, because another client changes it again and again. */
export function repairPause({ reader, now }: Keeping, { key }: WantedObject): number {
  return Math.max(0, (reader.notes.get(key)?.repairs?.until ?? 0) - now());
}

/** A child was repaired once more. */
export function noteRepair(keeping: Keeping, wanted: WantedObject, fields: readonly DriftedField[]): void {
  const { reader, now, context, tellFight } = keeping;
  const { key, kind, manifest } = wanted;
  const before = reader.notes.get(key)?.repairs ?? CALM;
  const repairs = afterOwnChange(cooledDown(before, now()), now(), context.settings.queueing.hotLoop);
  reader.notes.set(key, { repairs });
  const by = managersIn(fields);
  const paths = fields.map(({ path }) => path).join(", ");
  const child = childText(kind, manifest, context.namespace);
  tellChild(keeping, "repaired", child, { fields: fields.map(({ path }) => path), by });
  if (repairs.level === 0) return;
  context.logger.warn("a child is changed by somebody else again and again, its repair is slowed down", {
    child,
    fields: paths,
    by: by.join(", ") || undefined,
    pause: formatDuration(repairs.until - now()),
    hint: "leave these fields out of what is returned, answer onDrift with keep, or stop the other one",
  });
  tellFight(`somebody else changes ${child} again and again: ${paths}`);
}

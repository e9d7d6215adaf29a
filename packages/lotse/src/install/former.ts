/**
 * Removes what a former version of an operator has registered and this one does not: its webhooks would have requests
 * refused, because nothing answers any more, and its policies would judge by rules that are gone. Costs one look at one
 * Lease where there is nothing to remove.
 *
 * While an operator is rolled out, processes of the former version put back what is removed, until they are gone: what was
 * removed is looked for again for some time.
 */
import {
  type Client,
  ConflictError,
  ForbiddenError,
  type KindDescription,
  type KubeBody,
  MutatingAdmissionPolicy,
  MutatingAdmissionPolicyBinding,
  MutatingWebhookConfiguration,
  NotFoundError,
  ValidatingAdmissionPolicy,
  ValidatingAdmissionPolicyBinding,
  ValidatingWebhookConfiguration,
} from "@lotse/client";
import { type Clock, errorMessage, sleep } from "@lotse/client/meta";
import { type RegisteredName, registeredArgument, registeredLabels, registeredLease } from "../declare/index.ts";
import { type Retrying, retryForever } from "../informers/index.ts";
import type { Logger } from "../report/index.ts";
import { forgetNote, type Noted, readNote, writeNote } from "./noted.ts";

/** What {@link removeFormer} goes by. */
export interface FormerParts {
  readonly operator: string;
  readonly client: Client;
  readonly clock: Clock;
  readonly random: () => number;
  readonly logger: Logger;
  readonly signal: AbortSignal;
}

/** When it is looked for again: processes of the former version may take so long to go. */
const PAUSES_MS = [10_000, 60_000, 5 * 60_000, 15 * 60_000];

/** What an earlier process has noted; undefined when nothing is, or when the role does not allow to look. */
export async function findFormer(parts: FormerParts): Promise<Noted | undefined> {
  const { operator, logger, signal } = parts;
  const client = parts.client.with({ signal });
  const look = async () => {
    try {
      return await readNote(client, operator);
    } catch (error) {
      if (!(error instanceof ForbiddenError)) throw error;
      logger.debug("whether a former version of the operator has registered anything may not be looked up", {
        error: errorMessage(error),
      });
      return undefined;
    }
  };
  return retryForever("what a former version of the operator has registered could not be looked up", look, parts);
}

/**
 * See the module comment. `wanted`: what this version registers itself, at the moment. `onLooked`: whatever was there has
 * been removed, as far as that is allowed; called after each look. Resolves when there is nothing to look for any more;
 * rejects only when the signal has aborted.
 */
export async function removeFormer(
  noted: Noted,
  wanted: () => readonly RegisteredName[],
  parts: FormerParts,
  onLooked: () => void = () => {},
): Promise<void> {
  const { operator, clock, signal } = parts;
  const client = parts.client.with({ signal });
  const retrying: Retrying = parts;
  const told = new Set<string>();
  for (const pauseMs of [...PAUSES_MS, undefined]) {
    const removed = await retryForever(
      "what a former version of the operator has registered could not be removed",
      () => removeAll(unwanted(noted, wanted()), parts, client, told),
      retrying,
    );
    onLooked();
    if (pauseMs !== undefined) await sleep(clock, pauseMs, signal);
    else if (removed) return tellFight(unwanted(noted, wanted()), parts);
  }
  // What could not be removed is told once more at the next start.
  if (told.size > 0) return;
  const left = wanted();
  await retryForever(
    "the note of what is registered could not be renewed",
    async () => {
      if (left.length > 0) await writeNote(client, operator, left, clock.now());
      else await forgetNote(client, operator, noted);
    },
    retrying,
  );
}

/** What was noted and is not registered any more. */
export function unwanted({ names }: Noted, wanted: readonly RegisteredName[]): RegisteredName[] {
  const kept = new Set(wanted.map(registeredArgument));
  return names.filter((one) => !kept.has(registeredArgument(one)));
}

/** Whatever is still put back is not of a version that goes, but of one that runs beside this one. */
function tellFight(names: readonly RegisteredName[], { operator, client, logger }: FormerParts): void {
  logger.warn("another process of this operator keeps registering what this version does not have, it is left alone", {
    registered: names.map(registeredArgument).join(" "),
    hint: `stop it, or give one of them another name; ${howToRemove(operator, client, names)}`,
  });
}

/** Resolves with whether anything was there to remove. */
async function removeAll(
  names: readonly RegisteredName[],
  parts: FormerParts,
  client: Client,
  told: Set<string>,
): Promise<boolean> {
  const { operator, logger } = parts;
  let removed = false;
  for (const one of names) {
    const argument = registeredArgument(one);
    try {
      if (!(await remove(one, operator, client))) continue;
      removed = true;
      logger.info("what a former version of the operator has registered is removed", { registered: argument });
    } catch (error) {
      if (!(error instanceof ForbiddenError)) throw error;
      if (told.has(argument)) continue;
      told.add(argument);
      logger.warn("what a former version of the operator has registered may still be there", {
        registered: argument,
        error: errorMessage(error),
        hint: howToRemove(operator, client, names),
      });
    }
  }
  return removed;
}

/** Resolves with whether it was there and ours. */
async function remove(one: RegisteredName, operator: string, client: Client): Promise<boolean> {
  const kind = kindOf(one);
  if (!kind) return false;
  try {
    const { body } = await client.get(kind, one.name);
    const { uid, labels } = (body as KubeBody).metadata ?? {};
    const ours = Object.entries(registeredLabels(operator)).every(([key, value]) => labels?.[key] === value);
    if (!ours) return false;
    await client.delete(kind, one.name, { preconditions: { uid } });
    return true;
  } catch (error) {
    // It is gone, or there is another one of this name by now.
    if (error instanceof NotFoundError || error instanceof ConflictError) return false;
    throw error;
  }
}

function howToRemove(operator: string, client: Client, names: readonly RegisteredName[]): string {
  const lease = `-n ${client.config.namespace} lease/${registeredLease(operator)}`;
  return `remove it: kubectl delete --ignore-not-found ${lease} ${names.map(registeredArgument).join(" ")}`;
}

const KINDS = [
  ValidatingWebhookConfiguration,
  MutatingWebhookConfiguration,
  ValidatingAdmissionPolicyBinding,
  MutatingAdmissionPolicyBinding,
  ValidatingAdmissionPolicy,
  MutatingAdmissionPolicy,
];

function kindOf({ plural, version }: RegisteredName): KindDescription | undefined {
  const known = KINDS.find(({ description }) => description.plural === plural)?.description;
  return known && { ...known, version };
}

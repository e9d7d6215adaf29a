/** The Leases by which an operator can be paused, and pauses written to them. */
import { type Client, ConflictError, ForbiddenError, Lease, NotFoundError } from "@lotse/client";
import { PAUSE_ANNOTATION, type Pause, parsePauses, withoutPause, withPause } from "./pause.ts";

/** A Lease as the API server has it. */
export type LeaseBody = Lease["body"];

/** Which Leases are meant. */
export interface LeaseQuestion {
  /** An operator's name, or that of its Lease. */
  readonly operator: string;
  /** Undefined: all. */
  readonly namespace: string | undefined;
}

/** On the Leases of an operator whose processes share the objects: its name. */
export const OPERATOR_LABEL = "lotse.dev/operator";

/** The annotation of Leases that a process of Lotse has written. */
const WRITTEN_BY_LOTSE = "lotse.dev/lease-writer";

/** Holders change their Lease every other second: a write that meets one is repeated. */
const MOST_CONFLICTS = 20;

/** The Leases of an operator: the one that says who leads, or those of all who share its objects. */
export async function findLeases(client: Client, { operator, namespace }: LeaseQuestion): Promise<LeaseBody[]> {
  if (namespace === undefined) {
    const all = await client.list(Lease, { namespace: "*" }).toArray();
    return all.map(({ body }) => body).filter((body) => isOf(body, operator));
  }
  const found = await unlessMissing(client.get(Lease, operator, { namespace }));
  try {
    const labelled = client.list(Lease, { namespace, labelSelector: { [OPERATOR_LABEL]: operator } });
    const shared = (await labelled.toArray()).map(({ body }) => body);
    return [...(found ? [found.body] : []), ...shared.filter(({ metadata }) => metadata?.name !== operator)];
  } catch (error) {
    // Who may read one Lease need not be allowed to list all.
    if (found && error instanceof ForbiddenError) return [found.body];
    throw error;
  }
}

/** The names of the operators whose Leases there are, for whoever did not say which. */
export async function operatorsWithLeases(client: Client, namespace: string | undefined): Promise<string[]> {
  const leases = await client.list(Lease, { namespace: namespace ?? "*" }).toArray();
  const names = leases
    .filter(({ metadata }) => metadata.annotations?.[WRITTEN_BY_LOTSE] !== undefined)
    .map(({ metadata }) => metadata.labels?.[OPERATOR_LABEL] ?? metadata.name ?? "");
  return [...new Set(names)].sort();
}

function isOf({ metadata }: LeaseBody, operator: string): boolean {
  return metadata?.name === operator || metadata?.labels?.[OPERATOR_LABEL] === operator;
}

/** Where a Lease is. */
export function placeOf({ metadata }: LeaseBody): { readonly namespace: string; readonly name: string } {
  return { namespace: metadata?.namespace ?? "", name: metadata?.name ?? "" };
}

/** Puts a pause on a Lease, beside those of others; undefined when the Lease is gone. */
export function putPause(client: Client, lease: LeaseBody, pause: Pause, now: number): Promise<LeaseBody | undefined> {
  return annotate(client, lease, (text) => withPause(text, pause, now));
}

/** Takes the pause of `by` off a Lease; undefined when the Lease is gone. */
export function takePause(client: Client, lease: LeaseBody, by: string, now: number): Promise<LeaseBody | undefined> {
  return annotate(client, lease, (text) =>
    // What has run out may stay: a write less.
    parsePauses(text).pauses.some((pause) => pause.by === by) ? withoutPause(text, by, now) : undefined,
  );
}

/** Writes the annotation, based on the newest version: neither a holder's renewal nor another pause gets lost. */
async function annotate(
  client: Client,
  lease: LeaseBody,
  change: (text: string | undefined) => string | null | undefined,
): Promise<LeaseBody | undefined> {
  const { namespace, name } = placeOf(lease);
  let body: LeaseBody | undefined = lease;
  for (let conflicts = 0; body; conflicts++) {
    const value = change(body.metadata?.annotations?.[PAUSE_ANNOTATION]);
    if (value === undefined) return body;
    const { resourceVersion } = body.metadata ?? {};
    const metadata = { annotations: { [PAUSE_ANNOTATION]: value }, ...(resourceVersion && { resourceVersion }) };
    try {
      return (await client.patch(Lease, name, { metadata } as never, { namespace })).body;
    } catch (error) {
      if (error instanceof NotFoundError) return undefined;
      if (!(error instanceof ConflictError) || conflicts >= MOST_CONFLICTS) throw error;
      body = (await unlessMissing(client.get(Lease, name, { namespace })))?.body;
    }
  }
  return undefined;
}

async function unlessMissing<T>(answer: Promise<T>): Promise<T | undefined> {
  try {
    return await answer;
  } catch (error) {
    if (error instanceof NotFoundError) return undefined;
    throw error;
  }
}

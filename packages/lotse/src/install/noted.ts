/** The note of what an operator has registered: a Lease in its namespace, which its next version looks at when it starts. */
import { type Client, ConflictError, Lease, NotFoundError } from "@lotse/client";
import {
  parseRegistered,
  REGISTERED_ANNOTATION,
  type RegisteredName,
  registeredLabels,
  registeredLease,
  registeredText,
} from "../declare/index.ts";

/** What was noted. */
export interface Noted {
  readonly names: readonly RegisteredName[];
  /** By which {@link forgetNote} knows that no other process has written since. */
  readonly resourceVersion: string | undefined;
}

/** What an earlier process of the operator has noted; undefined when it has registered nothing. */
export async function readNote(client: Client, operator: string): Promise<Noted | undefined> {
  try {
    const { body } = await client.get(Lease, registeredLease(operator));
    const { annotations, resourceVersion } = body.metadata ?? {};
    return { names: parseRegistered(annotations?.[REGISTERED_ANNOTATION] ?? ""), resourceVersion };
  } catch (error) {
    if (error instanceof NotFoundError) return undefined;
    throw error;
  }
}

/** Notes what is registered from now on: before it is, so that nothing is ever there that no note speaks of. */
export async function writeNote(
  client: Client,
  operator: string,
  names: readonly RegisteredName[],
  now: number,
): Promise<Noted> {
  // Each process that registers writes it anew: one that is about to forget it learns that it must not.
  const acquireTime = new Date(now).toISOString().replace("Z", "000Z");
  const metadata = {
    name: registeredLease(operator),
    labels: { ...registeredLabels(operator) },
    annotations: { [REGISTERED_ANNOTATION]: registeredText(names) },
  };
  const { body } = await client.apply(new Lease({ metadata, spec: { acquireTime } }), { force: true });
  return { names, resourceVersion: body.metadata?.resourceVersion };
}

/** Nothing of it is there any more. A note that another process has written since stays. */
export async function forgetNote(client: Client, operator: string, { resourceVersion }: Noted): Promise<void> {
  try {
    await client.delete(Lease, registeredLease(operator), {
      ignoreNotFound: true,
      preconditions: { resourceVersion },
    });
  } catch (error) {
    if (!(error instanceof ConflictError)) throw error;
  }
}

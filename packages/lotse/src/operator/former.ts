/** What a former version of the operator has registered and this one does not is removed, beside everything else. */
import type { Client } from "@lotse/client";
import type { RegisteredName } from "../declare/index.ts";
import { type FormerParts, findFormer, type Noted, removeFormer } from "../install/index.ts";
import type { Reporting } from "../report/index.ts";
import type { Runtime } from "../runtime/index.ts";
import { errorFields } from "../turn/index.ts";

/** What looking for it needs. */
export function formerParts(
  { operator, client, clock, random, stopping: signal }: Runtime,
  { logger }: Pick<Reporting, "logger">,
): FormerParts {
  return { operator, client: noteClient(client), clock, random, logger, signal };
}

/** The note lies beside the operator: in the namespace of its pod, else in the client's. */
export function noteClient(client: Client): Client {
  const { POD_NAMESPACE: namespace } = process.env;
  return namespace ? client.with({ namespace }) : client;
}

/** For an operator that registers nothing. Never rejects. */
export async function removeAllOfFormer(parts: FormerParts): Promise<void> {
  await untilStopped(parts, async () => {
    const former = await findFormer(parts);
    if (former) await removeFormer(former, () => [], parts);
  });
}

/** For one that registers `wanted`. `onLooked` is called when it was looked for, and at the end. Never rejects. */
export async function removeUnwantedOfFormer(
  former: Noted,
  wanted: () => readonly RegisteredName[],
  parts: FormerParts,
  onLooked: () => void,
): Promise<void> {
  await untilStopped(parts, () => removeFormer(former, wanted, parts, onLooked));
  onLooked();
}

async function untilStopped({ signal, logger }: FormerParts, work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (signal.aborted) return;
    logger.error("what a former version has registered is not looked for any more", errorFields(error, true));
  }
}

/** What log lines about handlers have in common. */
import { errorMessage } from "@lotse/client/meta";
import { PermanentError, TemporaryError } from "../declare/index.ts";

/** Which handler a line is about, where to find it, and which run of it is meant, if the line is about one. */
export function named(
  { id, sourceLocation }: { readonly id: string; readonly sourceLocation: string | undefined },
  runId?: string,
): Record<string, unknown> {
  return runId === undefined ? { handler: id, at: sourceLocation } : { handler: id, at: sourceLocation, runId };
}

/** An error as log fields: with its stack the first time, if it was not thrown on purpose. */
export function errorFields(error: unknown, first: boolean): Record<string, unknown> {
  if (!(error instanceof Error)) return { error: errorMessage(error) };
  const onPurpose = error instanceof TemporaryError || error instanceof PermanentError;
  return { error: errorMessage(error), ...(first && !onPurpose && { stack: error.stack }) };
}

import type { Client } from "@lotse/client";
import type { RecordRequest } from "./record.ts";

/** A view whose requests are recorded in the name of the handler that makes them. */
export function recordedInContext(
  client: Client,
  handlers: { readonly current: { readonly id: string } | undefined },
  record: RecordRequest | undefined,
): Client {
  if (!record) return client;
  return client.with({
    onRequest: (request) => {
      const handler = handlers.current;
      if (handler) record({ handler: handler.id, ...request });
    },
  });
}

/**
 * Objects that a handler makes without a client (`ConfigMap.gen({...}).create()`) go where the default client is
 * connected to: the current context of kubectl. In a command that works on another cluster that must be this one, or
 * somebody who develops on an embedded cluster writes to production.
 */
import { Client } from "@lotse/client";
import type { HandlerContext } from "./handler-context.ts";
import type { RecordRequest } from "./record.ts";

/** From now on objects without a client use this one; the returned function ends that. */
export function useAsDefault(client: Client): () => void {
  Client.setDefault(client);
  return () => Client.setDefault(undefined);
}

/** A view whose requests are recorded in the name of the handler that makes them. */
export function recordedInContext(
  client: Client,
  handlers: Pick<HandlerContext, "current">,
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

/**
 * Objects that a handler makes without a client (`ConfigMap.gen({...}).create()`) go where the default client is
 * connected to: the current context of kubectl. In a command that works on another cluster that must be this one, or
 * an author who develops on an embedded cluster writes to production.
 */
import { Client } from "@lotse/client";

/** From now on objects without a client use this one; the returned function ends that. */
export function useAsDefault(client: Client): () => void {
  Client.setDefault(client);
  return () => Client.setDefault(undefined);
}

/** A namespace for tests. */
import { vi } from "vitest";
import { Namespace, ServiceAccount } from "./builtin/index.ts";
import type { Client } from "./client/index.ts";

/**
 * Makes a namespace in which pods can be created, and gives a client that works there: a server refuses pods until a
 * controller has made the namespace's account, which takes its time.
 *
 * @example
 * const client = await inFreshNamespace(admin, { generateName: "contract-" });
 */
export async function inFreshNamespace(
  admin: Client,
  named: { readonly name: string } | { readonly generateName: string },
): Promise<Client> {
  const { name } = await admin.create(Namespace.gen(named));
  const client = admin.inNamespace(name);
  await untilFurnished(client);
  return client;
}

/**
 * Until pods can be created in the client's namespace; that of a server which has just started takes its time as well.
 *
 * @example
 * await untilFurnished(admin);
 */
export async function untilFurnished(client: Client): Promise<void> {
  await vi.waitFor(() => client.get(ServiceAccount, "default"), { timeout: 120_000, interval: 20 });
}

/** Who a process is among the processes of its operator, and where they meet. Pure, but for the host's name and the randomness. */
import { randomUUID } from "node:crypto";
import { hostname } from "node:os";
import { allNamespaces, type Client } from "@lotse/client";

type Environment = Readonly<Record<string, string | undefined>>;

/** What an identity is made of. */
export interface IdentityParts {
  readonly environment: Environment;
  /** This run of the process, unlike every other. */
  readonly run: string;
  readonly host?: string | undefined;
  readonly pid?: number | undefined;
}

/** A name for this run of the process that no other run has: a seeded randomness must not make two processes one. */
export function newRun(): string {
  return randomUUID();
}

/**
 * Who this process is, for people: the pod's name, else the host and the process, and a part that another run of it does
 * not have.
 */
export function processIdentity({ environment, run, host = hostname(), pid = process.pid }: IdentityParts): string {
  const inPod = environment.KUBERNETES_SERVICE_HOST !== undefined;
  const pod = environment.POD_NAME || (inPod ? environment.HOSTNAME : undefined);
  return `${pod || `${host}_${pid}`}_${run.slice(0, 8)}`;
}

/** Where the Leases of an operator lie: where it runs, else where its client works. */
export function leaseNamespace(
  namespace: string | undefined,
  environment: Environment,
  client: Pick<Client, "namespace">,
): string {
  // In a pod the client's own namespace is the one of the service account.
  const own = client.namespace === allNamespaces ? "default" : client.namespace;
  return namespace || environment.POD_NAMESPACE || own;
}

/** What scenarios of several replicas share: a kind, replicas with a client of their own, and what each of them asks. */
import { type Client, Lease } from "@lotse/client";
import { leader, type Operator, type RunningOperator, resource, type StartOptions, shards } from "lotse";
import { z } from "zod";
import type { TestCluster } from "../fixture.ts";
import type { Stage } from "./stage.ts";

export const Task = resource({
  group: "replicas.example.com",
  version: "v1",
  kind: "Task",
  spec: z.object({ size: z.number().default(1) }),
  status: z.object({ size: z.number().optional(), by: z.string().optional(), beats: z.number().optional() }),
});

/** Time enough for a busy machine: what these scenarios wait for is never that a Lease runs out. */
export const COORDINATION = leader({ name: "tasks", duration: "60s", renew: "40s", retry: "500ms" });

/** The same times, for replicas that share the objects. */
export const SHARED = shards({ name: "tasks", duration: "60s", renew: "40s", retry: "500ms" });

/** A process of the operator; here all of them are in one. */
export interface Replica {
  readonly name: string;
  readonly running: RunningOperator;
  /** What it has asked the API server for: `PATCH /apis/…`. Leases and Events are left out. */
  readonly requests: string[];
}

/** Requests that change something. */
export function writesOf({ requests }: Replica): string[] {
  return requests.filter((one) => !one.startsWith("GET"));
}

/** Requests for all objects of a kind; watches are none. */
export function listsOf({ requests }: Replica): string[] {
  return requests.filter((one) => /^GET .*\/tasks$/.test(one));
}

/** Starts a replica and waits until it is ready. */
export async function startReplica(
  stage: Stage,
  cluster: TestCluster,
  name: string,
  operator: Operator,
  options: StartOptions = {},
): Promise<Replica> {
  const requests: string[] = [];
  const connected = await cluster.connect();
  const client = connected.inNamespace(stage.namespace).with({
    onRequest: ({ method, path, watch }) => {
      if (!watch && !/\/(leases|events)\b/.test(path)) requests.push(`${method} ${path}`);
    },
  });
  const running = await stage.start(operator, { client, coordination: COORDINATION, ...options });
  return { name, running, requests };
}

/** How a replica stands to the others. */
export const stateOf = ({ running }: Replica) => running.health().coordination?.state;

/** Another process takes the Lease away from whoever has it, which no replica expects. */
export async function stealLease(client: Client, holder: string): Promise<void> {
  const lease = await client.get(Lease, "tasks");
  const renewTime = new Date().toISOString().replace("Z", "000Z");
  await lease.patch({ spec: { holderIdentity: holder, renewTime } });
}

/** And gives it back. */
export async function freeLease(client: Client): Promise<void> {
  const lease = await client.get(Lease, "tasks");
  await lease.patch({ spec: { holderIdentity: "" } });
}

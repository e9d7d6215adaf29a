/** What the replicas of this suite work on, and what their handlers tell the witness. */
import { resource } from "lotse";
import { z } from "zod";

/** Every change of an order has a number; whoever handles it leaves its own. */
export const Order = resource({
  group: "replicas.faults.example.com",
  version: "v1",
  kind: "Order",
  spec: z.object({ change: z.number() }),
  status: z.object({ change: z.number().optional(), run: z.string().optional(), by: z.string().optional() }),
});

/** The operator's name, and that of its Lease. */
export const OPERATOR = "orders";

/** What a replica's process prints once a SIGTERM makes it stop in order. */
export const LISTENS = "listens to signals";

/** A handler begins: told before it does anything else. */
export interface Begun {
  readonly run: string;
  /** The identity of its process, as the Lease has it. */
  readonly by: string;
  /** How often that process has taken the Lease. */
  readonly reign: number;
  readonly uid: string;
  readonly change: number;
}

/** What the test tells a replica's process; each is an environment variable. */
export interface ReplicaSettings {
  readonly KUBECONFIG: string;
  readonly REPLICA_NAMESPACE: string;
  readonly REPLICA_IDENTITY: string;
  readonly REPLICA_WITNESS: string;
  /** `duration/renew/retry`. */
  readonly REPLICA_LEASE: string;
  readonly REPLICA_COORDINATION: "leader" | "shards";
}

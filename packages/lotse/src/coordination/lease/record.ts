/**
 * What a Lease says, and what is written into it: client-go's form, so that `kubectl get leases` and dashboards understand
 * it. Pure. What others keep in its metadata, a pause for instance, stays in every write.
 */
import type { Lease } from "@lotse/client";

/** A Lease as the API server has it. */
export type LeaseBody = Lease["body"];

/** What a process wants of a Lease. */
export interface LeaseClaim {
  readonly name: string;
  readonly namespace: string;
  /** Who holds it, for people: two processes may have been given the same one. */
  readonly identity: string;
  /** This run of this process, unlike every other: it alone says whether a record was written here. */
  readonly writer: string;
  readonly durationMs: number;
  readonly renewMs: number;
  readonly retryMs: number;
}

/** What is to be read of a Lease. Its times are for people: no decision depends on another process' clock. */
export interface LeaseRecord {
  /** Undefined: it was given back, and is free. */
  readonly holder: string | undefined;
  readonly writer: string | undefined;
  /** After so long without a change the holder is gone. */
  readonly durationMs: number;
  readonly transitions: number;
  /** A write that is based on this record succeeds only while it is the newest. */
  readonly version: string;
  readonly body: LeaseBody;
}

/** The annotation by which a process knows its own records. */
export const WRITER_ANNOTATION = "lotse.dev/lease-writer";

/** Reads a Lease. One that says nothing of its duration is believed to have this process' own. */
export function readLease(body: LeaseBody, { durationMs }: Pick<LeaseClaim, "durationMs">): LeaseRecord {
  const { holderIdentity, leaseDurationSeconds: seconds, leaseTransitions } = body.spec ?? {};
  return {
    holder: holderIdentity || undefined,
    writer: body.metadata?.annotations?.[WRITER_ANNOTATION],
    durationMs: seconds !== undefined && seconds > 0 ? seconds * 1_000 : durationMs,
    transitions: leaseTransitions ?? 0,
    version: body.metadata?.resourceVersion ?? "",
    body,
  };
}

/** Whether this run of this process wrote the record, and holds the Lease by it. The identity alone would not prove it. */
export function isOwn(record: LeaseRecord, { identity, writer }: Pick<LeaseClaim, "identity" | "writer">): boolean {
  return record.holder === identity && record.writer === writer;
}

/** The Lease where there is none yet. */
export function newLease(claim: LeaseClaim, now: number): LeaseBody {
  const { name, namespace } = claim;
  return {
    apiVersion: "coordination.k8s.io/v1",
    kind: "Lease",
    metadata: { name, namespace, annotations: { [WRITER_ANNOTATION]: claim.writer } },
    spec: { ...held(claim, now), acquireTime: microTime(now), leaseTransitions: 0 },
  };
}

/** The Lease, taken from whoever held it before. */
export function takenLease({ body, transitions, ...before }: LeaseRecord, claim: LeaseClaim, now: number): LeaseBody {
  const changes = isOwn({ body, transitions, ...before }, claim) ? 0 : 1;
  const spec = { ...held(claim, now), acquireTime: microTime(now), leaseTransitions: transitions + changes };
  return { ...written(body, claim), spec: { ...body.spec, ...spec } };
}

/** The Lease, held on. */
export function renewedLease({ body }: LeaseRecord, claim: LeaseClaim, now: number): LeaseBody {
  return { ...written(body, claim), spec: { ...body.spec, ...held(claim, now) } };
}

/** The Lease, given back: others take it at once. A duration of a second is what client-go writes, and its readers expect. */
export function releasedLease({ body }: LeaseRecord, claim: LeaseClaim, now: number): LeaseBody {
  const at = microTime(now);
  const spec = { holderIdentity: "", leaseDurationSeconds: 1, acquireTime: at, renewTime: at };
  return { ...written(body, claim), spec: { ...body.spec, ...spec } };
}

/** Others wait for whole seconds, and never for less than this process believes that they do. */
function held({ identity, durationMs }: LeaseClaim, now: number): NonNullable<LeaseBody["spec"]> {
  return {
    holderIdentity: identity,
    leaseDurationSeconds: Math.ceil(durationMs / 1_000),
    renewTime: microTime(now),
  };
}

/** The body with its version, so that the write fails where another was first, and with the metadata of others. */
function written(body: LeaseBody, { writer }: LeaseClaim): LeaseBody {
  // The server keeps the managed fields by itself.
  const { managedFields: _, ...metadata } = body.metadata ?? {};
  const annotations = { ...metadata.annotations, [WRITER_ANNOTATION]: writer };
  return { ...body, metadata: { ...metadata, annotations } };
}

/** Kubernetes' MicroTime; JavaScript's clock knows milliseconds. */
function microTime(now: number): string {
  return new Date(now).toISOString().replace("Z", "000Z");
}

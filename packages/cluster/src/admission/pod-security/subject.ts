import { type ApiMeta, isRecord, listAt } from "../../registry/index.ts";

type Fields = Readonly<Record<string, unknown>>;

/** What is looked at: a pod, or the template of some. */
export interface Subject {
  readonly annotations: Readonly<Record<string, string>>;
  readonly spec: Fields;
  /** The `securityContext` of the pod, empty where there is none. */
  readonly security: Fields;
  /** All containers, in the order in which sentences name them. */
  readonly containers: readonly Container[];
}

/** One container of a {@link Subject}. */
export interface Container {
  readonly name: string;
  readonly fields: Fields;
  /** Its `securityContext`, empty where there is none. */
  readonly security: Fields;
}

/** Why something may not be: what kind of thing, and in detail. */
export interface Objection {
  readonly reason: string;
  readonly detail: string;
}

/** What a check finds: nothing where all is well. */
export type Found = Objection | undefined;

/** A pod or template as checks see it. */
export function subjectOf(metadata: Partial<ApiMeta> | undefined, spec: Fields): Subject {
  const containers = ["initContainers", "containers", "ephemeralContainers"].flatMap((key) => listAt(spec, key));
  return {
    annotations: metadata?.annotations ?? {},
    spec,
    security: record(spec.securityContext),
    containers: containers.map((fields) => ({
      name: String(fields.name),
      fields,
      security: record(fields.securityContext),
    })),
  };
}

/** A value as an object; an empty one when it is none. */
export function record(value: unknown): Fields {
  return isRecord(value) ? value : {};
}

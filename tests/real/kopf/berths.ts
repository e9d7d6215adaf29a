/** On what the hand-over happens: kinds that keep more or less of what is written to them, and the places of records. */
import type { KubeBody } from "@lotse/client";
import type { KopfOptions } from "lotse";

/** A call of a handler, as both operators tell it. */
export interface Call {
  readonly id: string;
  readonly name: string;
  readonly reason: string;
  /** Attempts before this one; null for parts of a handler. */
  readonly retry: number | null;
  readonly diff: readonly (readonly [op: string, path: readonly string[], old: unknown, now: unknown])[];
}

const group = "handover.example.com";

/** Annotations that tell the handlers how to fail. */
export const notes = {
  failures: `${group}/failures`,
  delay: `${group}/delay`,
  failsIn: `${group}/fails-in`,
} as const;

/** A kind, and where the records of its objects lie. */
export interface Berth {
  readonly title: string;
  /** Short, for names of namespaces. */
  readonly name: string;
  readonly kind: readonly [group: string, version: string, plural: string];
  /** How Lotse and its client name the kind. */
  readonly selector: string;
  /** The field of the objects in which wishes lie. */
  readonly section: "spec" | "data";
  /** Which storages operator.py takes. */
  readonly storage: "default" | "prefix" | "status" | "old";
  /** Which it takes the first time, if others. */
  readonly first?: Berth["storage"];
  /** The same for Lotse. */
  readonly options: KopfOptions;
  readonly finalizer: string;
  /** Whether a handler's result has a place in the status. */
  readonly keepsResults: boolean;
  body(name: string, more: Pick<KubeBody, "metadata"> & { wishes?: Record<string, unknown> }): KubeBody;
}

type Place = Pick<Berth, "storage" | "first" | "options" | "finalizer">;
const usual: Place = { storage: "default", options: {}, finalizer: "kopf.zalando.org/KopfFinalizerMarker" };
const prefixed: Place = {
  storage: "prefix",
  options: { prefix: "pier.example.com", progress: "annotations", finalizer: "pier.example.com/finalizer" },
  finalizer: "pier.example.com/finalizer",
};
const inStatus: Place = { ...usual, storage: "status", options: { progress: "status", diffBase: "status" } };

/** Old versions of Kopf kept progress in the status; new ones read it there, and write it to annotations. */
const moving: Place = { ...usual, first: "old" };

function custom(name: string, title: string, kind: "Crate" | "Barrel", place: Place): Berth {
  const plural = `${kind.toLowerCase()}s`;
  return {
    ...{ name, title, ...place },
    kind: [group, "v1", plural],
    selector: `${plural}.${group}`,
    section: "spec",
    keepsResults: kind === "Barrel",
    body: (object, { metadata, wishes }) => ({
      apiVersion: `${group}/v1`,
      kind,
      metadata: { ...metadata, name: object },
      spec: { size: "1", ...wishes },
    }),
  };
}

/** Everything that the tests play on. */
export const berths: readonly Berth[] = [
  custom("pruning", "a kind whose status keeps nothing", "Crate", usual),
  custom("keeping", "a kind whose status keeps everything", "Barrel", usual),
  {
    ...{ name: "builtin", title: "a built-in kind", ...usual },
    kind: ["", "v1", "configmaps"],
    selector: "configmaps",
    section: "data",
    keepsResults: false,
    body: (object, { metadata, wishes }) => ({
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: { ...metadata, name: object },
      data: { size: "1", ...(wishes && { wishes: JSON.stringify(wishes) }) },
    }),
  },
  custom("prefix", "a kind with annotations of the operator's own", "Crate", prefixed),
  custom("status", "a kind with everything in the status", "Barrel", inStatus),
  custom("moving", "a kind whose progress an old Kopf has left in the status", "Barrel", moving),
];

/** The CRDs of the kinds. */
export const crds: readonly KubeBody[] = (["Crate", "Barrel"] as const).map((kind) => {
  const plural = `${kind.toLowerCase()}s`;
  const everything = { type: "object", "x-kubernetes-preserve-unknown-fields": true };
  const status = kind === "Barrel" ? everything : { type: "object", properties: { phase: { type: "string" } } };
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: `${plural}.${group}` },
    spec: {
      group,
      scope: "Namespaced",
      names: { kind, listKind: `${kind}List`, plural, singular: kind.toLowerCase() },
      versions: [
        {
          name: "v1",
          served: true,
          storage: true,
          subresources: { status: {} },
          schema: { openAPIV3Schema: { type: "object", properties: { spec: everything, status } } },
        },
      ],
    },
  };
});

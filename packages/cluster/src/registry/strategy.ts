import type { FieldError } from "./fields.ts";
import type { ApiObject } from "./object.ts";
import type { RequestUser } from "./user.ts";

/** How the names of a kind look. */
export type NameRule = "subdomain" | "label" | "label1035" | "pathSegment";

/** What a strategy may need from the server to prepare an object. */
export interface StrategyContext {
  readonly now: number;
  readonly random: () => number;
  /** Who writes. */
  readonly user: RequestUser;
  /** Tells the writer something about what is changed here. */
  readonly warn: (text: string) => void;
  /** The next free address for a Service, or undefined when `wanted` is taken. */
  readonly allocateClusterIp: (wanted: string | undefined) => string | undefined;
  /** The ranges that Services get their addresses from, where the cluster tells them. */
  readonly serviceRanges: () => readonly string[];
  /** Nothing of it will be kept. */
  readonly dryRun: boolean;
  /** Whether a Service has this port on every node already. */
  readonly usesNodePort: (port: number) => boolean;
}

/** How the objects of one kind behave, beyond what all kinds have in common. A kind is a row of these. */
export interface Strategy {
  readonly nameRule: NameRule;
  /** Names of finalizers need no domain. */
  readonly anyFinalizer?: boolean;
  /** Kept out of the cache of watches, so that the storage itself says what is too old. */
  readonly uncached?: boolean;
  /** The group that errors name, where it is not that of the kind. */
  readonly errorGroup?: string;
  /** PUT without a resourceVersion overwrites. */
  readonly unconditionalUpdate: boolean;
  /** PUT of a missing object creates it. */
  readonly createOnUpdate: boolean;
  readonly tracksGeneration: boolean;
  /** The main endpoint leaves `status` alone, because `/status` owns it. */
  readonly hasStatus: boolean;
  /** A new object keeps the status that it came with. */
  readonly createsWithStatus?: boolean;
  /** Fields that no manager gets to own, because none can change them. */
  readonly fixedFields?: readonly string[];
  /** A write to the status leaves all metadata alone. */
  readonly statusKeepsMeta?: boolean;
  /** Parts of the metadata that a write to the status leaves alone. */
  readonly statusKeeps?: readonly ("labels" | "ownerReferences")[];
  /** DELETE answers with the object and not with a Status. */
  readonly deleteReturnsObject: boolean;
  /** Fields that `fieldSelector` knows besides metadata.name and metadata.namespace. */
  readonly fieldLabels: Readonly<Record<string, (object: ApiObject) => string>>;
  /** The kind has a list of labels of its own, so that its error for others reads differently. */
  readonly ownFieldLabels: boolean;
  /** Dependents are orphaned when the request does not say what becomes of them. */
  readonly orphansByDefault: boolean;
  /** Shown when the default above is used. */
  readonly defaultPropagationWarning?: string;
  /** Sets what the server owns; changes `object`. */
  readonly prepareForCreate?: (object: ApiObject, context: StrategyContext) => void;
  readonly prepareForUpdate?: (object: ApiObject, old: ApiObject, context: StrategyContext) => void;
  /** As `prepareForUpdate`, which comes first, for writes to the status alone. */
  readonly prepareStatus?: (object: ApiObject, old: ApiObject) => void;
  /** The same for the approval of a request. */
  readonly prepareApproval?: (object: ApiObject, old: ApiObject) => void;
  /** Gets ready to validate an object, where that takes something that is loaded on first use. */
  readonly prepareValidation?: (object: ApiObject) => Promise<void>;
  readonly validate?: (object: ApiObject, subresource?: string) => FieldError[];
  /** What its writer should know although it is no mistake; `old` is there on updates. */
  readonly warnings?: (object: ApiObject, old?: ApiObject, subresource?: string) => string[];
  /** What only a new object must comply with. */
  readonly validateCreate?: (object: ApiObject) => FieldError[];
  readonly validateUpdate?: (object: ApiObject, old: ApiObject, subresource?: string) => FieldError[];
  /** How long an object stays after DELETE, given what the request asks for; kinds without it go at once. */
  readonly gracePeriodSeconds?: (object: ApiObject, asked: number | undefined) => number;
  /** DELETE only sets the time: no grace period, no new generation. */
  readonly marksTimeOnly?: boolean;
  /** Changes an object that a DELETE just marked. */
  readonly markDeleting?: (object: ApiObject, now: number) => void;
  /** Something other than metadata.finalizers still holds a deleted object. */
  readonly heldBack?: (object: ApiObject) => boolean;
}

/** What holds for a kind that says nothing else. */
export const defaultStrategy: Strategy = {
  nameRule: "subdomain",
  unconditionalUpdate: true,
  createOnUpdate: false,
  tracksGeneration: false,
  hasStatus: false,
  deleteReturnsObject: false,
  fieldLabels: {},
  ownFieldLabels: false,
  orphansByDefault: false,
};

/** Points from a dependent to the object that owns it; the garbage collector follows it. */
export interface OwnerReference {
  apiVersion: string;
  kind: string;
  name: string;
  uid: string;
  controller?: boolean;
  blockOwnerDeletion?: boolean;
}

/** Which manager set which fields, as the server records it. */
export interface ManagedFieldsEntry {
  manager?: string;
  operation?: string;
  apiVersion?: string;
  time?: string;
  fieldsType?: string;
  fieldsV1?: Record<string, unknown>;
  subresource?: string;
}

/** The metadata that every object has. */
export interface ObjectMeta {
  name?: string;
  generateName?: string;
  namespace?: string;
  uid?: string;
  resourceVersion?: string;
  generation?: number;
  creationTimestamp?: string;
  deletionTimestamp?: string;
  deletionGracePeriodSeconds?: number;
  labels?: Record<string, string>;
  annotations?: Record<string, string>;
  finalizers?: string[];
  ownerReferences?: OwnerReference[];
  managedFields?: ManagedFieldsEntry[];
}

/**
 * What the body of any object has in common. Interfaces of concrete kinds have no index signature, so this, and not
 * {@link KubeBody}, is what type parameters are bounded by.
 */
export interface ObjectBody {
  apiVersion?: string;
  kind?: string;
  metadata?: ObjectMeta;
  spec?: unknown;
  status?: unknown;
}

/** The body of an object whose kind the compiler does not know. */
export interface KubeBody extends ObjectBody {
  [key: string]: unknown;
}

/** Anything around a body: an object of the client, whatever its class. */
export interface WithBody<out B extends ObjectBody = ObjectBody> {
  /** The whole object as it is in JSON. */
  body: B;
}

export type { KubeBody, ManagedFieldsEntry, ObjectBody, ObjectMeta, OwnerReference, WithBody } from "./body.ts";
export { builtinDescription } from "./builtin.ts";
export {
  allNamespaces,
  apiVersionOf,
  describeKind,
  type KindDescription,
  type KindSketch,
  parseApiVersion,
  pathOf,
} from "./description.ts";
export {
  type Discovery,
  type DiscoveryFailure,
  discoverKinds,
  mayBeHidden,
} from "./discovery.ts";
export { findKinds, findManifestKind, nearestNames, UnknownKindError } from "./names.ts";
export { KindRegistry } from "./registry.ts";
export type * from "./tables/index.ts";
export { builtinKinds } from "./tables/index.ts";

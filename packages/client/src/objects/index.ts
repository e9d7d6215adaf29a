export * from "./builtin/index.ts";
export type { Change } from "./changes.ts";
export { Client } from "./client.ts";
export type { GroupVersionKind, PathOptions } from "./client-reads.ts";
export type { ConnectOptions } from "./connect.ts";
export { defineKind, type GenMeta, type GenStatics, type KindDefinition } from "./define-kind.ts";
export {
  AmbiguousError,
  DrainError,
  JobFailedError,
  ManifestError,
  RolloutError,
  UnsupportedError,
} from "./errors.ts";
export type { Informer, InformerEvents, InformerOptions } from "./informer.ts";
export type { ClientOption, KindClass, KindStatics } from "./kind-class.ts";
export { type ListPage, ObjectList } from "./list.ts";
export { fromManifest, type LoadOptions, loadManifests, type ManifestSource } from "./manifests.ts";
export { KubeObject, type ObjectWatchOptions } from "./object.ts";
export type {
  ApplyManyOptions,
  ApplyOptions,
  CreateManyOptions,
  CreateOptions,
  DeleteOptions,
  GetOptions,
  ListOptions,
  PatchOptions,
  PatchType,
  ReplaceOptions,
  ScaleOptions,
  SelectOptions,
  UpdateOptions,
  WatchOptions,
  WriteOptions,
} from "./options.ts";
export { type OwnerOptions, referenceTo } from "./owners.ts";
export type { MergePatch, PatchFor, StrategicPatch } from "./patches.ts";
export type { ServerVersion } from "./requests.ts";
export { ScalableObject, type ScalePaths } from "./scale.ts";
export type { Table, TableColumn, TableOptions, TableRow } from "./table.ts";
export type {
  AnnouncedRequest,
  AnyObject,
  KindLike,
  RequestFollower,
  RequestListener,
  ViewOptions,
  WriteListener,
  WriteVerb,
} from "./view.ts";
export { type WaitCondition, type WaitOptions, WaitTimeoutError } from "./wait.ts";
export { all, any, type CombinedCondition, not } from "./wait-condition.ts";
export type { WaitSelection } from "./wait-many.ts";
export type { Watch, WatchEvent } from "./watch.ts";
export type { Marks } from "./words.ts";

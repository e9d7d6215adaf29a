export {
  ConfigMap,
  type ConfigMapGen,
  CustomResourceDefinition,
  Event,
  Namespace,
  Pod,
  type PodGen,
  Secret,
  type SecretGen,
} from "./builtin.ts";
export { Client } from "./client.ts";
export type { ConnectOptions } from "./connect.ts";
export { defineKind, type GenMeta, type GenStatics } from "./define-kind.ts";
export { type ListPage, ObjectList } from "./list.ts";
export { type KindClass, KubeObject } from "./object.ts";
export type {
  ApplyOptions,
  CreateManyOptions,
  CreateOptions,
  DeleteOptions,
  GetOptions,
  ListOptions,
  MergePatch,
  PatchOptions,
  PatchType,
  ReplaceOptions,
  WatchOptions,
  WriteOptions,
} from "./options.ts";
export { type OwnerOptions, referenceTo } from "./owners.ts";
export type { ServerVersion, UserInfo } from "./requests.ts";
export type { KindLike, ViewOptions, WriteListener, WriteVerb } from "./view.ts";
export { type WaitCondition, type WaitOptions, WaitTimeoutError } from "./wait.ts";
export type { Watch, WatchEvent } from "./watch.ts";

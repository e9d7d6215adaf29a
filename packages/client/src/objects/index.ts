import type { readTable as ReadTable } from "./table.ts";

export type { Change } from "./changes.ts";
export {
  defined,
  defineKind,
  type GenMeta,
  type GenStatics,
  gen,
  headerOf,
  type KindDefinition,
  splitMeta,
} from "./define-kind.ts";
export {
  AmbiguousError,
  DrainError,
  JobFailedError,
  ManifestError,
  RolloutError,
  UnsupportedError,
} from "./errors.ts";
export { guessKind } from "./identity.ts";
export type { LabelChanges } from "./label-args.ts";
export { type ListPage, ObjectList } from "./list.ts";
export {
  type AnyObject,
  type ClientOption,
  defaultClient,
  type KindClass,
  type KindStatics,
  KubeObject,
  type ObjectClient,
  type ObjectWatchOptions,
  sendPatch,
} from "./object.ts";
export { ObjectBase } from "./object-base.ts";
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
export { findObject, getObject, listObjects, splitReference, watchObjects } from "./read.ts";
export { readServerVersion, requestPart, type ServerVersion } from "./requests.ts";
export { replicasOf, ScalableObject, type ScalePaths, scaleObject } from "./scale.ts";
export { Session } from "./session.ts";
export type { Table, TableColumn, TableOptions, TableRow } from "./table.ts";
export type {
  AnnouncedRequest,
  ClientCore,
  KindLike,
  ObjectOf,
  RequestFollower,
  RequestListener,
  View,
  ViewOptions,
  WriteGuard,
  WriteListener,
  WriteVerb,
  Written,
} from "./view.ts";
export { type WaitCondition, type WaitOptions, WaitTimeoutError, waitFor } from "./wait.ts";
export { allOf, anyOf, type CombinedCondition, noneOf } from "./wait-condition.ts";
export { type WaitSelection, waitForMany } from "./wait-many.ts";
export { applyObject, createObject, deleteObject, patchObject, replaceObject } from "./write.ts";

/** See table.ts, which is loaded when a program first wants a table. */
export const readTable: typeof ReadTable = async (...args) => (await import("./table.ts")).readTable(...args);

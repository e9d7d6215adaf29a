export {
  type Change,
  type ChangeListener,
  type ChangeType,
  type Entry,
  RevisionExpired,
  Store,
  type StoredObject,
  type StoreOptions,
  type WriteResult,
} from "./store.ts";

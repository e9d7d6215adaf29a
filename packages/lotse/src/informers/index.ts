export { type Index, type IndexKey, IndexStore, indexKeyText } from "./indexes.ts";
export { Informer, type InformerChange, type InformerOptions, type ObjectListener } from "./informer.ts";
export { type KindListener, KindScanner, type KindScannerOptions, type ScannerHealth } from "./kind-scanner.ts";
export { KindStreams } from "./kind-streams.ts";
export { type IndexFailureListener, OperatorIndexes } from "./operator-indexes.ts";
export { awaitKind, type KindCapabilities, type KindWait } from "./resolve-kind.ts";
export { type Retrying, retryForever } from "./retry.ts";
export { type FollowedScopes, type Scope, type ScopeListener, Scopes, type ScopesFollowing } from "./scopes.ts";
export { firstOfSignals } from "./signals.ts";

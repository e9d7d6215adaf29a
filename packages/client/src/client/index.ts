export { Client } from "./client.ts";
export type { GroupVersionKind, PathOptions } from "./client-reads.ts";
export type { ConnectOptions } from "./connect.ts";
export { fromManifest, type LoadOptions, loadManifests, type ManifestSource, readDocuments } from "./manifests.ts";

export { type Index, type IndexKey, IndexStore, indexKeyText } from "./indexes.ts";
export { Informer, type InformerChange, type InformerListener, type InformerOptions } from "./informer.ts";
export { awaitKindFacts, type KindFacts, type KindWait } from "./kind-facts.ts";
export {
  type NamespaceFilter,
  type NamespaceState,
  namespaceChanges,
  namespaceState,
  parseNamespaces,
} from "./namespaces.ts";

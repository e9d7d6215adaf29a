export {
  type ConfigurationParts,
  type Configurations,
  clientConfigOf,
  type RuleBody,
  rulesOf,
  type WebhookAddress,
  webhookConfigurations,
} from "./configurations.ts";
export { type FieldSchema, type JudgedKind, judgedKinds, kindsOf } from "./judged.ts";
export { labelOf, Names } from "./names.ts";
export { handlerOfPath, pathOfHandler } from "./paths.ts";
export { type NamespaceSurroundings, namespaceSelectorOf, objectSelectorOf } from "./selectors.ts";

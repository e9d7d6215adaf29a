export {
  type ConfigurationParts,
  type Configurations,
  clientConfigOf,
  type RuleBody,
  registeredLabels,
  rulesOf,
  type WebhookAddress,
  webhookConfigurations,
} from "./configurations.ts";
export { type FieldSchema, type JudgedKind, judgedKinds, kindsOf } from "./judged.ts";
export { domainOf, labelOf, Names } from "./names.ts";
export { handlerOfPath, pathOfHandler } from "./paths.ts";
export { type NamespaceSurroundings, namespaceSelectorOf, objectSelectorOf } from "./selectors.ts";

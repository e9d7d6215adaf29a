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
export { type FieldSchema, handlerOfPath, type JudgedKind, judgedKinds, kindsOf, pathOfHandler } from "./judged.ts";
export { domainOf, labelOf, Names } from "./names.ts";
export { type NamespaceSurroundings, namespaceSelectorOf, objectSelectorOf } from "./selectors.ts";

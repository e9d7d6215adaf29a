/**
 * The webhook configurations of an operator: one entry for each handler, so that the API server itself applies whatever it
 * can of the handler's filters. Pure.
 */
import type { KubeBody } from "@lotse/client";
import { type AdmissionHandler, domainOf, registeredLabels } from "../../declare/index.ts";
import { conditionsOf } from "./conditions.ts";
import type { JudgedKind } from "./judged.ts";
import { Names } from "./names.ts";
import { pathOfHandler } from "./paths.ts";
import { type NamespaceSurroundings, namespaceSelectorOf, objectSelectorOf } from "./selectors.ts";

/** Where the API server reaches the operator, without the path of a handler. */
export type WebhookAddress =
  | { readonly url: string }
  | {
      readonly service: {
        readonly namespace: string;
        readonly name: string;
        readonly port: number;
        /** Below which the operator is asked, where several share the Service: `/zoo`. */
        readonly path?: string;
      };
    };

/** What configurations are made of. */
export interface ConfigurationParts {
  readonly operator: string;
  readonly kinds: readonly JudgedKind[];
  readonly address: WebhookAddress;
  /** PEM; undefined where another party puts it in, or the API server believes the certificate anyway. */
  readonly caBundle: string | undefined;
  readonly namespaces: NamespaceSurroundings;
}

/** The configurations; one without any handler is not there. */
export interface Configurations {
  readonly validating: KubeBody | undefined;
  readonly mutating: KubeBody | undefined;
}

/** See the module comment. */
export function webhookConfigurations(parts: ConfigurationParts): Configurations {
  return {
    validating: configuration("ValidatingWebhookConfiguration", "validate", parts),
    mutating: configuration("MutatingWebhookConfiguration", "mutate", parts),
  };
}

function configuration(kind: string, type: AdmissionHandler["type"], parts: ConfigurationParts): KubeBody | undefined {
  const names = new Names(parts.operator);
  const webhooks = entries(parts.kinds, type)
    .map(({ handler, kinds }) => ({ handler, webhook: webhookOf(handler, kinds, names, parts) }))
    .sort((a, b) => a.handler.order - b.handler.order)
    .map(({ webhook }) => webhook);
  if (webhooks.length === 0) return undefined;
  return {
    apiVersion: "admissionregistration.k8s.io/v1",
    kind,
    metadata: { name: domainOf(parts.operator), labels: { ...registeredLabels(parts.operator) } },
    webhooks,
  } as KubeBody;
}

interface HandlerEntry {
  readonly handler: AdmissionHandler;
  readonly kinds: JudgedKind[];
}

/** A handler may be for many kinds: then it is one entry with many rules. */
function entries(kinds: readonly JudgedKind[], type: AdmissionHandler["type"]): HandlerEntry[] {
  const byHandler = new Map<AdmissionHandler, HandlerEntry>();
  for (const judged of kinds) {
    for (const handler of judged.handlers.filter((one) => one.type === type)) {
      const entry = byHandler.get(handler);
      if (entry) entry.kinds.push(judged);
      else byHandler.set(handler, { handler, kinds: [judged] });
    }
  }
  return [...byHandler.values()];
}

function webhookOf(
  handler: AdmissionHandler,
  kinds: readonly JudgedKind[],
  names: Names,
  parts: ConfigurationParts,
): object {
  const conditions = conditionsOf(handler, { typed: kinds.every(({ kindClass }) => kindClass !== undefined) });
  const objectSelector = objectSelectorOf(handler.filters.labels);
  const namespaceSelector = namespaceSelectorOf(handler.namespaces, parts.namespaces);
  return {
    name: names.take(handler.id, kinds[0]?.kind.plural ?? ""),
    clientConfig: clientConfigOf(parts.address, pathOfHandler(handler), parts.caBundle),
    rules: rulesOf(kinds, handler.operations, handler.subresource),
    // Requests in other versions are judged too: the API server converts their objects into the handler's version.
    matchPolicy: "Equivalent",
    ...(objectSelector && { objectSelector }),
    ...(namespaceSelector && { namespaceSelector }),
    ...(conditions.length > 0 && { matchConditions: conditions }),
    failurePolicy: handler.ignoreFailures ? "Ignore" : "Fail",
    sideEffects: handler.sideEffects ? "NoneOnDryRun" : "None",
    timeoutSeconds: handler.timeoutSeconds,
    ...(handler.type === "mutate" && { reinvocationPolicy: handler.reinvoke ? "IfNeeded" : "Never" }),
    admissionReviewVersions: ["v1"],
  };
}

/** How the API server reaches a path of the operator. */
export function clientConfigOf(address: WebhookAddress, path: string, caBundle: string | undefined): object {
  return {
    ...("url" in address
      ? { url: `${address.url.replace(/\/+$/, "")}${path}` }
      : { service: { ...address.service, path: `${address.service.path ?? ""}${path}` } }),
    ...(caBundle !== undefined && { caBundle: Buffer.from(caBundle).toString("base64") }),
  };
}

/** A rule of a configuration or of a policy. */
export interface RuleBody {
  readonly operations: readonly string[];
  readonly apiGroups: readonly string[];
  readonly apiVersions: readonly string[];
  readonly resources: readonly string[];
  readonly scope: "Namespaced" | "Cluster";
}

/** The rules for some kinds: those of one version of a group, and of one scope, share one. */
export function rulesOf(
  kinds: readonly Pick<JudgedKind, "kind">[],
  operations: readonly string[],
  subresource: string | undefined,
): RuleBody[] {
  const rules = new Map<string, { -readonly [K in keyof RuleBody]: RuleBody[K] }>();
  for (const { kind } of kinds) {
    const { group, version, plural, namespaced } = kind;
    const scope = namespaced ? "Namespaced" : "Cluster";
    const resources =
      subresource === undefined
        ? [plural]
        : subresource === "*"
          ? [plural, `${plural}/*`]
          : [`${plural}/${subresource}`];
    const key = [group, version, scope].join(" ");
    const known = rules.get(key);
    if (known) known.resources = [...known.resources, ...resources];
    else rules.set(key, { operations, apiGroups: [group], apiVersions: [version], resources, scope });
  }
  return [...rules.values()];
}

/** How handlers of requests are declared, and where the API server reaches them. */
import type { KubeBody } from "@lotse/client";
import { type Duration, durationMs } from "@lotse/client/meta";
import type { AdmissionOperation, MutateContext } from "./admission-context.ts";
import { declarationError } from "./errors.ts";
import type { FieldPath } from "./field-path.ts";
import type { Filters } from "./filters.ts";
import type { ObjectHandlerOptions, ResourceInput } from "./options.ts";

/** A condition in CEL that the API server asks before it calls: `object`, `oldObject`, `request`, `authorizer`. */
export interface MatchCondition {
  /** Default: `condition-1`, `condition-2`, … */
  readonly name?: string;
  readonly expression: string;
}

/** Namespaces by their labels, as in Kubernetes itself. */
export interface NamespaceSelector {
  readonly matchLabels?: Readonly<Record<string, string>>;
  readonly matchExpressions?: readonly {
    readonly key: string;
    readonly operator: "In" | "NotIn" | "Exists" | "DoesNotExist";
    readonly values?: readonly string[];
  }[];
}

/**
 * Whose objects are judged: `"all"`, namespaces by their names (`["team-a"]`), all but some (`["!team-x"]`), or by their
 * labels.
 */
export type AdmissionNamespaces = "all" | readonly string[] | NamespaceSelector;

/**
 * Options of `on.validate`.
 *
 * @example
 * ```ts
 * operator.on.validate(Machine, { operations: ["CREATE"], labels: { tier: "gold" } }, function checkGold() {});
 * ```
 */
export interface ValidateOptions<B, F extends FieldPath = FieldPath> extends ObjectHandlerOptions<B, F> {
  /**
   * Default `["CREATE", "UPDATE"]`: an object that is wrong can be deleted. Filters look at the object as it would be
   * stored, and at the stored one when it would be deleted.
   */
  readonly operations?: readonly AdmissionOperation[];
  /** `"status"`, `"scale"`; `"*"` is the object and all its subresources. Default: the object itself. */
  readonly subresource?: string;
  /**
   * Default: all that the operator serves, without `kube-system` and the namespace in which the operator itself runs: an
   * operator that is down must not keep itself down.
   */
  readonly namespaces?: AdmissionNamespaces;
  /** Conditions in CEL; the API server calls only when all hold. */
  readonly matchConditions?: readonly (string | MatchCondition)[];
  /** Let requests pass while the operator cannot be reached. Default `false`: they are refused. */
  readonly ignoreFailures?: boolean;
  /** The handler does something that lasts: it is not called for a dry run unless it looks at `dryRun`. Default `false`. */
  readonly sideEffects?: boolean;
  /**
   * Whether requests are still sent to the handler when the operator has stopped. Default: yes behind a Service, where
   * another replica or the next start answers; no at a URL, where nothing would.
   */
  readonly persistent?: boolean;
  /** How long the API server waits for the answer: `"1s"` to `"30s"`. Default 10 s. */
  readonly timeout?: Duration;
  /** Handlers with smaller numbers are called first. Default 0; equal numbers in the order of declaration. */
  readonly order?: number;
}

/**
 * Options of `on.mutate`.
 *
 * @example
 * ```ts
 * operator.on.mutate(Machine, { order: -1, reinvoke: true }, function fillIn({ patch }) {});
 * ```
 */
export interface MutateOptions<B, F extends FieldPath = FieldPath> extends ValidateOptions<B, F> {
  /** Call it again, once, when a later webhook has changed the object. It must bear that. Default `false`. */
  readonly reinvoke?: boolean;
}

/** A declared handler of `on.validate` or `on.mutate`. */
export interface AdmissionHandler {
  readonly type: "validate" | "mutate";
  readonly id: string;
  /** Where it was declared: `operator.ts:12`. */
  readonly sourceLocation: string | undefined;
  readonly filters: Filters<KubeBody>;
  readonly operations: readonly AdmissionOperation[];
  readonly subresource: string | undefined;
  readonly namespaces: AdmissionNamespaces | undefined;
  readonly matchConditions: readonly Required<MatchCondition>[];
  readonly ignoreFailures: boolean;
  readonly sideEffects: boolean;
  /** Undefined: it depends on how the operator is reached. */
  readonly persistent: boolean | undefined;
  readonly reinvoke: boolean;
  readonly timeoutSeconds: number;
  readonly order: number;
  readonly param: unknown;
  readonly fn: (context: MutateContext<KubeBody>) => unknown;
}

/** All handlers of requests for one resource. */
export interface AdmissionDeclaration {
  readonly resource: ResourceInput;
  readonly handlers: readonly AdmissionHandler[];
}

const OPERATIONS: readonly string[] = ["CREATE", "UPDATE", "DELETE", "CONNECT"] satisfies AdmissionOperation[];
const USUAL_OPERATIONS: readonly AdmissionOperation[] = ["CREATE", "UPDATE"];
/** The limits of the API server. */
const SECONDS = { least: 1, most: 30, usual: 10 } as const;

/** What {@link planAdmission} reads of the options. */
export type AdmissionPlan = Omit<AdmissionHandler, "type" | "id" | "sourceLocation" | "filters" | "fn">;

/** Reads the options that only handlers of requests have; one that the API server would refuse is found here. */
export function planAdmission(label: string, options: MutateOptions<KubeBody>): AdmissionPlan {
  const { operations = USUAL_OPERATIONS, subresource, order = 0 } = options;
  const unknown = operations.find((operation) => !OPERATIONS.includes(operation));
  if (unknown !== undefined) {
    throw declarationError(
      `${JSON.stringify(unknown)} is no operation of ${label}`,
      `the operations are ${OPERATIONS.join(", ")}`,
    );
  }
  if (operations.length === 0) {
    throw declarationError(`${label} without an operation is never called`, 'write { operations: ["CREATE"] }');
  }
  if (subresource !== undefined && !/^(\*|[a-z]+)$/.test(subresource)) {
    throw declarationError(`${JSON.stringify(subresource)} is no subresource`, 'write "status", "scale" or "*"');
  }
  if (!Number.isFinite(order)) throw declarationError(`the order of ${label} is not a number`, "write { order: -1 }");
  return {
    operations: [...new Set(operations)],
    subresource,
    namespaces: checkNamespaces(label, options.namespaces),
    matchConditions: planConditions(options.matchConditions ?? []),
    ignoreFailures: options.ignoreFailures ?? false,
    sideEffects: options.sideEffects ?? false,
    persistent: options.persistent,
    reinvoke: options.reinvoke ?? false,
    timeoutSeconds: timeoutSeconds(label, options.timeout),
    order,
    param: options.param,
  };
}

function timeoutSeconds(label: string, timeout: Duration | undefined): number {
  if (timeout === undefined) return SECONDS.usual;
  const ms = durationMs(timeout);
  if (ms >= SECONDS.least * 1_000 && ms <= SECONDS.most * 1_000) return Math.ceil(ms / 1_000);
  throw declarationError(
    `the timeout of ${label} has to be from 1 to 30 seconds, and not ${ms / 1_000}`,
    "an API server waits no longer; do what takes longer in on.create or on.update",
  );
}

/** Gives each condition a name, as the API server demands. */
export function planConditions(conditions: readonly (string | MatchCondition)[]): Required<MatchCondition>[] {
  const planned = conditions.map((one, at) => {
    const { name = `condition-${at + 1}`, expression } = typeof one === "string" ? { expression: one } : one;
    return { name, expression };
  });
  const twice = planned.find(({ name }, at) => planned.findIndex((other) => other.name === name) < at);
  if (twice) throw declarationError(`two match conditions are called "${twice.name}"`, "give one another name");
  return planned;
}

/** Finds namespaces that mean nothing. */
export function checkNamespaces(
  label: string,
  namespaces: AdmissionNamespaces | undefined,
): AdmissionNamespaces | undefined {
  if (!Array.isArray(namespaces)) return namespaces;
  const names = namespaces as readonly string[];
  const wrong = names.find((name) => !/^!?[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/.test(name));
  if (wrong !== undefined || names.length === 0) {
    throw declarationError(
      `${wrong === undefined ? "an empty list" : JSON.stringify(wrong)} is no list of namespaces for ${label}`,
      'write their names, ["team-a"], all but some, ["!team-x"], or select them by labels: { matchLabels: {…} }',
    );
  }
  if (new Set(names.map((name) => name.startsWith("!"))).size === 2) {
    throw declarationError(
      `the namespaces of ${label} name some, and all but some`,
      "who is named is judged, and no other: leave out those with !",
    );
  }
  return namespaces;
}

/**
 * Where the operator answers requests, and how the API server reaches it.
 *
 * @example
 * ```ts
 * operator.start({ webhooks: { port: 9443, url: "https://192.168.1.10:9443" } });
 * ```
 */
export interface WebhookOptions {
  /** Default 9443; 0 is any free one. */
  readonly port?: number;
  /** The address to listen on. Default: all, because the API server comes from outside. */
  readonly host?: string;
  /** Where the API server reaches this process: `https://host:port`. For an operator outside of the cluster. */
  readonly url?: string;
  /** The Service in front of the operator: its name, or where else it is. For an operator in the cluster. */
  readonly service?: string | { readonly namespace?: string; readonly name: string; readonly port?: number };
  /**
   * Who makes the certificate: `"own"` (default) keeps an authority and a certificate of the operator's own in a Secret,
   * renewed by itself; `"cert-manager"` reads what cert-manager has put there; `{ dir }` reads files.
   */
  readonly certificates?: "own" | "cert-manager" | { readonly dir: string };
  /**
   * Whether the operator itself tells the API server of its webhooks and policies. Default `true`; `false` where they are
   * installed as manifests.
   */
  readonly register?: boolean;
  /** The Secret with the certificate. Default: the operator's name and `-webhooks`. */
  readonly secret?: string;
}

/** Rules that the API server itself enforces: no webhook, no certificate, no outage. */
import { apiVersionOf, type KindClass } from "@lotse/client";
import { type AdmissionNamespaces, checkNamespaces, type MatchCondition, planConditions } from "./admission.ts";
import type { AdmissionOperation } from "./admission-context.ts";
import { declarationError } from "./errors.ts";
import { absent, type MapFilter, present } from "./filters.ts";
import type { ResourceInput } from "./options.ts";

/** Why a request is refused, in the words of the API: what programs look at. */
export type PolicyReason = "Invalid" | "Forbidden" | "Unauthorized" | "RequestEntityTooLarge";

/** A rule of a policy, in CEL. */
export interface PolicyRule {
  /** Has to be true of `object`; beside it there are `oldObject`, `request`, `params`, `namespaceObject`, `variables`, `authorizer`. */
  readonly expression: string;
  /** What the client is told when it is not. Default: the expression. */
  readonly message?: string;
  /** The same as an expression: `"'at most ' + string(params.spec.most)"`. */
  readonly messageExpression?: string;
  /** Default `"Invalid"`. */
  readonly reason?: PolicyReason;
}

/** A change that a policy makes, in CEL: a part of the object to be applied, or a list of operations. */
export type PolicyMutation =
  | { /** `"Object{spec: Object.spec{size: 10}}"` */ readonly apply: string }
  | { /** `'[JSONPatch{op: "add", path: "/spec/size", value: 10}]'` */ readonly patch: string };

/** The object that the rules of a policy see as `params`. */
export interface PolicyParams {
  /** A class, or a kind by its names. */
  readonly kind: KindClass | { readonly apiVersion: string; readonly kind: string };
  readonly name?: string;
  /** All that have these labels; each is asked. */
  readonly labels?: Readonly<Record<string, string>>;
  /** Default: the namespace of the object that is judged. */
  readonly namespace?: string;
  /** What happens when it is not there. Default `"deny"`. */
  readonly missing?: "allow" | "deny";
}

/**
 * What `operator.policy` is told.
 *
 * @example
 * ```ts
 * operator.policy(Machine, {
 *   id: "size",
 *   rules: [{ expression: "object.spec.size <= 100", message: "no machine is that large" }],
 * });
 * ```
 */
export interface PolicyOptions {
  /** Default: `policy-1`, `policy-2`, … of its kind. Part of the policy's name in the cluster. */
  readonly id?: string;
  readonly rules?: readonly PolicyRule[];
  /** Changes, in this order, before anything is judged. */
  readonly mutate?: readonly PolicyMutation[];
  /** Call the changes again, once, when a later policy or webhook has changed the object. Default `false`. */
  readonly reinvoke?: boolean;
  readonly params?: PolicyParams;
  /** Default `["CREATE", "UPDATE"]`. Changes are made at creation and update alone. */
  readonly operations?: readonly AdmissionOperation[];
  /** `"status"`, `"scale"`; `"*"` is the object and all its subresources. Default: the object itself. */
  readonly subresource?: string;
  /** Labels of the object: literals, `present`, `absent`. */
  readonly labels?: MapFilter;
  readonly namespaces?: AdmissionNamespaces;
  readonly matchConditions?: readonly (string | MatchCondition)[];
  /** Expressions that have a name, for the others: `variables.total`. */
  readonly variables?: Readonly<Record<string, string>>;
  /** What becomes of a request that breaks a rule. Default `"deny"`. */
  readonly enforce?: "deny" | "warn" | "none";
  /** `true`: broken rules are written into the audit log as well. An object: more for it, by key, as expressions. */
  readonly audit?: boolean | Readonly<Record<string, string>>;
  /** Let requests pass when an expression fails. Default `false`: they are refused. */
  readonly ignoreFailures?: boolean;
}

/** A declared policy. */
export interface PolicyDeclaration extends Omit<PolicyOptions, "matchConditions" | "operations" | "rules" | "mutate"> {
  readonly resource: ResourceInput;
  readonly id: string;
  /** Where it was declared: `operator.ts:12`. */
  readonly sourceLocation: string | undefined;
  readonly rules: readonly PolicyRule[];
  readonly mutate: readonly PolicyMutation[];
  readonly operations: readonly AdmissionOperation[];
  readonly matchConditions: readonly Required<MatchCondition>[];
}

/** What {@link planPolicy} reads of the options. */
export type PolicyPlan = Omit<PolicyDeclaration, "id" | "sourceLocation" | "resource">;

/** Reads the options of a policy; what makes no sense is found here. */
export function planPolicy(options: PolicyOptions): PolicyPlan {
  const { rules = [], mutate = [], operations = ["CREATE", "UPDATE"], enforce = "deny", audit = false } = options;
  if (rules.length === 0 && mutate.length === 0) {
    throw declarationError(
      "a policy without rules does nothing",
      'write { rules: [{ expression: "object.spec.size <= 100", message: "…" }] }, or { mutate: […] }',
    );
  }
  for (const rule of rules) {
    if (typeof rule?.expression !== "string" || rule.expression.trim() === "") {
      throw declarationError(
        "a rule of a policy needs an expression",
        'write { expression: "object.spec.size <= 100" }',
      );
    }
    if (rule.message?.includes("\n")) {
      throw declarationError("the message of a rule has to be one line", "the API server takes no others");
    }
  }
  if (enforce === "none" && audit === false) {
    throw declarationError('a policy with { enforce: "none" } and no audit does nothing', "add { audit: true }");
  }
  const unlabelled = Object.entries(options.labels ?? {}).find(
    ([, wanted]) => typeof wanted !== "string" && wanted !== present && wanted !== absent,
  );
  if (unlabelled) {
    throw declarationError(
      `the API server cannot compare the label "${unlabelled[0]}" with a function or a pattern`,
      "use a text, present or absent, or write a match condition in CEL",
    );
  }
  const { params } = options;
  if (params && (params.name === undefined) === (params.labels === undefined)) {
    throw declarationError("the params of a policy need a name or labels", 'write { kind: Limits, name: "usual" }');
  }
  checkNamespaces("operator.policy", options.namespaces);
  return {
    ...options,
    rules,
    mutate,
    operations,
    enforce,
    audit,
    matchConditions: planConditions(options.matchConditions ?? []),
  };
}

/** The kind of a policy's params, as the API server wants to hear it. */
export function paramKindOf(kind: PolicyParams["kind"]): { readonly apiVersion: string; readonly kind: string } {
  if (typeof kind !== "function") return { apiVersion: kind.apiVersion, kind: kind.kind };
  const { description } = kind;
  return { apiVersion: apiVersionOf(description), kind: description.kind };
}

import type { RequestInfo } from "../api/index.ts";
import { forbidden, type RequestUser, StatusError } from "../registry/index.ts";
import type { Permission } from "./gate.ts";
import { type Attempt, type PolicyRule, ruleAllows } from "./rules.ts";
import { UNAUTHENTICATED } from "./users.ts";

/**
 * What an authorizer says about an attempt. The reason names the rule that permits it, or what kept rules from being
 * read.
 */
export interface Decision {
  readonly allowed: boolean;
  readonly reason: string;
}

/** All that a user may do in a namespace, as far as it can be listed. */
export interface Permissions {
  readonly rules: readonly PolicyRule[];
  /** What kept rules from being read. */
  readonly errors: readonly string[];
}

/** Decides who may do what. */
export interface Authorizer {
  decide(user: RequestUser, attempt: Attempt): Decision;
  permissionsOf(user: RequestUser, namespace: string): Permissions;
}

/** What the default policy lets everybody do, also those who send no credentials. */
export const PUBLIC_RULES: readonly PolicyRule[] = [
  { verbs: ["get"], nonResourceURLs: ["/healthz", "/livez", "/readyz", "/version", "/version/"] },
];

const ALL_RULES: readonly PolicyRule[] = [
  { verbs: ["*"], apiGroups: ["*"], resources: ["*"] },
  { verbs: ["*"], nonResourceURLs: ["*"] },
];

/** Everybody whom the server knows may do everything. Others are on the same machine, or in a page of its browser. */
export const PERMISSIVE: Authorizer = {
  decide: (user, attempt) => ({
    allowed: permissiveRules(user).some((rule) => ruleAllows(rule, attempt)),
    reason: "",
  }),
  permissionsOf: (user) => ({ rules: permissiveRules(user), errors: [] }),
};

const permissiveRules = (user: RequestUser): readonly PolicyRule[] =>
  user.groups.includes(UNAUTHENTICATED) ? PUBLIC_RULES : ALL_RULES;

/** Turns an authorizer into what the gate asks of each request. */
export function createPermission(authorizer: Authorizer): Permission {
  return (user, info) => {
    const attempt = attemptOf(info);
    const { allowed, reason } = authorizer.decide(user, attempt);
    return allowed ? undefined : refusal(user, attempt, reason);
  };
}

const VERBS_OF_METHODS: ReadonlySet<string> = new Set([
  ...["get", "list", "watch", "create", "update", "patch", "delete", "deletecollection"],
]);

/** What a request is about to do. */
export function attemptOf({ verb, path, target, selectedName }: RequestInfo): Attempt {
  if (!target) return { type: "path", verb, path: decoded(path) };
  const { group, resource, subresource = "", name = selectedName ?? "" } = target;
  // A namespace lies in itself: a role of a namespace may be about the namespace, too.
  const namespace = target.namespace ?? (resource === "namespaces" ? (target.name ?? "") : "");
  return { type: "resource", verb: verbOf(verb, name), group, resource, subresource, namespace, name };
}

/** Methods that no API has are no verbs, but HEAD is a way to read. */
function verbOf(verb: string, name: string): string {
  if (verb === "head") return name === "" ? "list" : "get";
  return VERBS_OF_METHODS.has(verb) ? verb : "";
}

function decoded(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}

/** The answer to an attempt that is not permitted. */
export function refusal(user: RequestUser, attempt: Attempt, reason: string): StatusError {
  const told = sentence(user, attempt)
    // Some old browser might take the answer for a page.
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;");
  const cause = reason === "" ? told : `${told}: ${reason}`;
  if (attempt.type === "resource") {
    return forbidden({ group: attempt.group, plural: attempt.resource }, attempt.name, cause);
  }
  return new StatusError({ code: 403, reason: "Forbidden", message: `forbidden: ${cause}`, details: {} });
}

function sentence({ username }: RequestUser, attempt: Attempt): string {
  const subject = `User ${JSON.stringify(username)} cannot ${attempt.verb}`;
  if (attempt.type === "path") return `${subject} path ${JSON.stringify(attempt.path)}`;
  const { resource, subresource, group, namespace } = attempt;
  const full = subresource === "" ? resource : `${resource}/${subresource}`;
  const where = namespace === "" ? "at the cluster scope" : `in the namespace ${JSON.stringify(namespace)}`;
  return `${subject} resource ${JSON.stringify(full)} in API group ${JSON.stringify(group)} ${where}`;
}

import type { ReviewContext, ReviewHandler } from "../api/index.ts";
import {
  type ApiObject,
  badRequest,
  type FieldError,
  invalid,
  invalidValue,
  isRecord,
  objectAt,
  type RequestUser,
  required,
  timestamp,
} from "../registry/index.ts";
import type { TokenTable } from "./authenticate.ts";
import type { Authorizer, Decision } from "./authorizer.ts";
import { aggregate } from "./rbac.ts";
import type { Attempt } from "./rules.ts";
import type { ServiceAccountTokens } from "./tokens.ts";
import { userInfo } from "./users.ts";

const AUTHORIZATION = { group: "authorization.k8s.io", kind: "" };

const selfSubjectReview: ReviewHandler = (_object, { user, now }) => ({
  metadata: { creationTimestamp: timestamp(now) },
  status: { userInfo: userInfo(user) },
});

const text = (value: unknown): string => (typeof value === "string" ? value : "");

/** What a review asks about. */
function attemptOf(spec: Record<string, unknown>): Attempt {
  const { nonResourceAttributes: path, resourceAttributes: resource } = spec;
  if (isRecord(path)) return { type: "path", verb: text(path.verb), path: text(path.path) };
  const { verb, group, resource: plural, subresource, namespace, name } = isRecord(resource) ? resource : {};
  return {
    type: "resource",
    verb: text(verb),
    group: text(group),
    resource: text(plural),
    subresource: text(subresource),
    namespace: text(namespace),
    name: text(name),
  };
}

function attributeErrors(spec: Record<string, unknown>): FieldError[] {
  const { nonResourceAttributes: path, resourceAttributes: resource } = spec;
  const errors: FieldError[] = [];
  if (isRecord(resource) && isRecord(path)) {
    const shown = { Path: text(path.path), Verb: text(path.verb) };
    const detail = "cannot be specified in combination with resourceAttributes";
    errors.push(invalidValue("spec.nonResourceAttributes", shown, detail));
  }
  if (!isRecord(resource) && !isRecord(path)) {
    const detail = "exactly one of nonResourceAttributes or resourceAttributes must be specified";
    errors.push(invalidValue("spec.resourceAttributes", null, detail));
  }
  return errors;
}

function selectorErrors(spec: Record<string, unknown>): FieldError[] {
  return ["fieldSelector", "labelSelector"].flatMap((name) => {
    const selector = objectAt(spec, "resourceAttributes")[name];
    if (!isRecord(selector)) return [];
    const field = `spec.resourceAttributes.${name}`;
    const { rawSelector } = selector;
    const listed = Array.isArray(selector.requirements) && selector.requirements.length > 0;
    if (rawSelector && listed) {
      return [invalidValue(`${field}.rawSelector`, rawSelector, "may not specified at the same time as requirements")];
    }
    if (rawSelector || listed) return [];
    return [required(`${field}.requirements`, `when ${field} is specified, requirements or rawSelector is required`)];
  });
}

function subjectErrors(spec: Record<string, unknown>): FieldError[] {
  const groups = Array.isArray(spec.groups) ? spec.groups : [];
  if (text(spec.user) !== "" || groups.length > 0) return [];
  return [invalidValue("spec.user", "", "at least one of user or group must be specified")];
}

/** Nothing but bookkeeping and, where it says so, the namespace may be in the metadata of a question. */
function metadataErrors({ metadata }: ApiObject, withNamespace: boolean): FieldError[] {
  const { managedFields: _, namespace, ...rest } = metadata as Partial<ApiObject["metadata"]>;
  const others = Object.entries({ ...rest, ...(withNamespace ? {} : { namespace }) }).filter(
    ([, value]) => value !== undefined && value !== null && value !== "",
  );
  if (others.length === 0) return [];
  return [invalidValue("metadata", metadata, withNamespace ? "must be empty except for namespace" : "must be empty")];
}

function localErrors(object: ApiObject): FieldError[] {
  const spec = objectAt(object, "spec");
  const errors: FieldError[] = [];
  const wanted = text(objectAt(spec, "resourceAttributes").namespace);
  if (isRecord(spec.resourceAttributes) && wanted !== (object.metadata.namespace ?? "")) {
    errors.push(invalidValue("spec.resourceAttributes.namespace", wanted, "must match metadata.namespace"));
  }
  if (isRecord(spec.nonResourceAttributes)) {
    const { path, verb } = spec.nonResourceAttributes;
    const shown = { Path: text(path), Verb: text(verb) };
    errors.push(invalidValue("spec.nonResourceAttributes", shown, "disallowed on this kind of request"));
  }
  return errors;
}

function subjectOf(spec: Record<string, unknown>): RequestUser {
  const extra = isRecord(spec.extra) ? (spec.extra as Record<string, string[]>) : undefined;
  const groups = Array.isArray(spec.groups) ? spec.groups.map(String) : [];
  return { username: text(spec.user), uid: text(spec.uid), groups, extra };
}

/** One of the three kinds that ask whether a user may do something. */
interface AccessReview {
  readonly errors: (object: ApiObject) => FieldError[];
  readonly subject: (spec: Record<string, unknown>, context: ReviewContext) => RequestUser;
}

const ACCESS_REVIEWS: Readonly<Record<string, AccessReview>> = {
  selfsubjectaccessreviews: {
    errors: (object) => {
      const spec = objectAt(object, "spec");
      return [...attributeErrors(spec), ...selectorErrors(spec), ...metadataErrors(object, false)];
    },
    subject: (_spec, { user }) => user,
  },
  subjectaccessreviews: {
    errors: (object) => {
      const spec = objectAt(object, "spec");
      return [
        ...attributeErrors(spec),
        ...subjectErrors(spec),
        ...selectorErrors(spec),
        ...metadataErrors(object, false),
      ];
    },
    subject: subjectOf,
  },
  localsubjectaccessreviews: {
    errors: (object) => {
      const spec = objectAt(object, "spec");
      return [
        ...attributeErrors(spec),
        ...subjectErrors(spec),
        ...selectorErrors(spec),
        ...metadataErrors(object, true),
        ...localErrors(object),
      ];
    },
    subject: subjectOf,
  },
};

function accessReview(review: AccessReview, authorizer: Authorizer): ReviewHandler {
  return (object, context) => {
    const errors = review.errors(object);
    if (errors.length > 0) throw invalid(AUTHORIZATION, "", errors);
    const spec = objectAt(object, "spec");
    const decision = authorizer.decide(review.subject(spec, context), attemptOf(spec));
    return { metadata: object.metadata, spec, status: verdict(decision) };
  };
}

function verdict({ allowed, reason }: Decision): Record<string, unknown> {
  return { allowed, ...(reason === "" ? {} : { reason }) };
}

function rulesReview(authorizer: Authorizer): ReviewHandler {
  return (object, { user }) => {
    const namespace = text(objectAt(object, "spec").namespace);
    if (namespace === "") throw badRequest("no namespace on request");
    const { rules, errors } = authorizer.permissionsOf(user, namespace);
    const resourceRules = rules
      .filter(({ resources = [] }) => resources.length > 0)
      .map(({ verbs, apiGroups, resources, resourceNames }) => ({
        verbs,
        ...(apiGroups ? { apiGroups } : {}),
        resources,
        ...(resourceNames ? { resourceNames } : {}),
      }));
    const nonResourceRules = rules
      .filter(({ nonResourceURLs = [] }) => nonResourceURLs.length > 0)
      .map(({ verbs, nonResourceURLs }) => ({ verbs, nonResourceURLs }));
    const evaluationError = errors.length === 0 ? {} : { evaluationError: aggregate(errors) };
    return {
      metadata: {},
      spec: {},
      status: { resourceRules, nonResourceRules, incomplete: false, ...evaluationError },
    };
  };
}

function tokenReview(tokens: TokenTable, accounts: ServiceAccountTokens): ReviewHandler {
  return (object) => {
    const spec = objectAt(object, "spec");
    const token = text(spec.token);
    if (token === "") throw badRequest("token is required for TokenReview in authentication");
    const audiences = Array.isArray(spec.audiences) && spec.audiences.length > 0 ? spec.audiences : [accounts.issuer];
    return { metadata: object.metadata, spec, status: reviewToken(tokens, accounts, token, audiences.map(String)) };
  };
}

function reviewToken(
  tokens: TokenTable,
  accounts: ServiceAccountTokens,
  token: string,
  audiences: readonly string[],
): Record<string, unknown> {
  const known = tokens.get(token);
  const verdict = known ? { ok: true as const, user: known, audiences } : accounts.authenticate(token, audiences);
  if (verdict.ok) return { authenticated: true, user: userInfo(verdict.user), audiences: verdict.audiences };
  const invalid = "invalid bearer token";
  return { user: {}, error: verdict.error === undefined ? invalid : `[${invalid}, ${verdict.error}]` };
}

/** Whom the kinds that ask about users and rights ask themselves. */
export interface ReviewsOptions {
  readonly tokens: TokenTable;
  readonly accounts: ServiceAccountTokens;
  readonly authorizer: Authorizer;
}

/** The kinds that ask the server about its users. */
export function createReviews({ tokens, accounts, authorizer }: ReviewsOptions): Map<string, ReviewHandler> {
  const reviews = new Map<string, ReviewHandler>([
    ["authentication.k8s.io/selfsubjectreviews", selfSubjectReview],
    ["authentication.k8s.io/tokenreviews", tokenReview(tokens, accounts)],
    ["authorization.k8s.io/selfsubjectrulesreviews", rulesReview(authorizer)],
  ]);
  for (const [plural, review] of Object.entries(ACCESS_REVIEWS)) {
    reviews.set(`authorization.k8s.io/${plural}`, accessReview(review, authorizer));
  }
  return reviews;
}

import type { ReviewContext, ReviewHandler, Reviews } from "../api/index.ts";
import { badRequest, isRecord, objectAt, timestamp } from "../registry/index.ts";
import type { TokenTable } from "./authenticate.ts";

function userInfo({ user }: ReviewContext): Record<string, unknown> {
  return {
    username: user.username,
    ...(user.uid === undefined ? {} : { uid: user.uid }),
    groups: user.groups,
    ...(user.extra === undefined ? {} : { extra: user.extra }),
  };
}

const selfSubjectReview: ReviewHandler = (_object, context) => ({
  metadata: { creationTimestamp: timestamp(context.now) },
  status: { userInfo: userInfo(context) },
});

/** Everybody may do everything: that is what the authorizer in use says. */
const accessReview: ReviewHandler = (object) => {
  const spec = objectAt(object, "spec");
  if (isRecord(spec.resourceAttributes) === isRecord(spec.nonResourceAttributes)) {
    throw badRequest("exactly one of nonResourceAttributes or resourceAttributes must be specified");
  }
  return { metadata: {}, spec, status: { allowed: true } };
};

const rulesReview: ReviewHandler = (object) => {
  if (!objectAt(object, "spec").namespace) throw badRequest("no namespace on request");
  return {
    metadata: {},
    spec: {},
    status: {
      resourceRules: [{ verbs: ["*"], apiGroups: ["*"], resources: ["*"] }],
      nonResourceRules: [{ verbs: ["*"], nonResourceURLs: ["*"] }],
      incomplete: false,
    },
  };
};

function tokenReview(tokens: TokenTable): ReviewHandler {
  return (object) => {
    const { token } = objectAt(object, "spec");
    if (!token) throw badRequest("token is required for TokenReview in authentication");
    const user = typeof token === "string" ? tokens.get(token) : undefined;
    const status = user
      ? { authenticated: true, user: { username: user.username, groups: user.groups }, audiences: [AUDIENCE] }
      : { user: {}, error: "invalid bearer token" };
    return { metadata: {}, spec: objectAt(object, "spec"), status };
  };
}

const AUDIENCE = "https://kubernetes.default.svc.cluster.local";

/** The kinds that ask the server about its users. */
export function createReviews(tokens: TokenTable): Reviews {
  return new Map<string, ReviewHandler>([
    ["authentication.k8s.io/selfsubjectreviews", selfSubjectReview],
    ["authentication.k8s.io/tokenreviews", tokenReview(tokens)],
    ["authorization.k8s.io/selfsubjectaccessreviews", accessReview],
    ["authorization.k8s.io/subjectaccessreviews", accessReview],
    ["authorization.k8s.io/localsubjectaccessreviews", accessReview],
    ["authorization.k8s.io/selfsubjectrulesreviews", rulesReview],
  ]);
}

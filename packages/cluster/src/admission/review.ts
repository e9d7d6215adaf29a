import {
  type AdmissionAttributes,
  type ApiObject,
  checkReviewKind,
  type Endpoint,
  HookError,
  isRecord,
  StatusError,
} from "../registry/index.ts";
import { type GroupVersionKind, kindOf, namespaceOf } from "./request.ts";

/** A write as a webhook or policy that decides about it is shown it, in the version that it asked for. */
export interface ShownRequest {
  readonly kind: GroupVersionKind;
  readonly resource: { readonly group: string; readonly version: string; readonly resource: string };
  readonly subResource?: string;
  readonly requestKind: GroupVersionKind;
  readonly requestResource: { readonly group: string; readonly version: string; readonly resource: string };
  readonly requestSubResource?: string;
  readonly name?: string;
  readonly namespace?: string;
  readonly operation: string;
  readonly userInfo: Record<string, unknown>;
  readonly dryRun: boolean;
  /** A connection has none. */
  readonly options: Record<string, unknown> | null;
}

const OPTIONS = { CREATE: "CreateOptions", UPDATE: "UpdateOptions", DELETE: "DeleteOptions", CONNECT: "" } as const;

const resourceOf = ({ resource, version }: Endpoint) => ({
  group: resource.group,
  version: version.version,
  resource: resource.plural,
});

/** What is told about a request besides its objects. */
export function showRequest(attributes: AdmissionAttributes, matched: Endpoint): ShownRequest {
  const { endpoint, subresource, name, operation, user, dryRun, options } = attributes;
  const namespace = namespaceOf(attributes);
  return {
    kind: kindOf(matched, subresource),
    resource: resourceOf(matched),
    ...(subresource === undefined ? {} : { subResource: subresource }),
    requestKind: kindOf(endpoint, subresource),
    requestResource: resourceOf(endpoint),
    ...(subresource === undefined ? {} : { requestSubResource: subresource }),
    ...(name === "" ? {} : { name }),
    ...(namespace === "" ? {} : { namespace }),
    operation,
    userInfo: {
      username: user.username,
      ...(user.uid ? { uid: user.uid } : {}),
      groups: user.groups,
      ...(user.extra && Object.keys(user.extra).length > 0 ? { extra: user.extra } : {}),
    },
    dryRun,
    options: operation === "CONNECT" ? null : { kind: OPTIONS[operation], apiVersion: "meta.k8s.io/v1", ...options },
  };
}

/** Versions of AdmissionReview that webhooks may ask for. */
export type ReviewVersion = "v1" | "v1beta1";

/** The body that a webhook gets. */
export function reviewOf(
  uid: string,
  version: ReviewVersion,
  request: ShownRequest,
  object: ApiObject | undefined,
  oldObject: ApiObject | undefined,
): Record<string, unknown> {
  const { dryRun, options, ...about } = request;
  return {
    kind: "AdmissionReview",
    apiVersion: `admission.k8s.io/${version}`,
    request: { uid, ...about, object: object ?? null, oldObject: oldObject ?? null, dryRun, options },
  };
}

/** What a webhook decided. */
export interface Verdict {
  readonly allowed: boolean;
  readonly patch: string | undefined;
  readonly patchType: string;
  readonly status: Record<string, unknown>;
  readonly warnings: readonly string[];
}

/** An answer that breaks the rules; the message is the real server's. */
export class InvalidAnswer extends Error {}

/** Reads a webhook's answer to the review with this uid. */
export function readVerdict(answer: unknown, uid: string, version: ReviewVersion, mutating: boolean): Verdict {
  const review = isRecord(answer) ? answer : {};
  checkReviewKind(review, { group: "admission.k8s.io", version, kind: "AdmissionReview" });
  const { response } = review;
  if (!isRecord(response)) throw new InvalidAnswer("webhook response was absent");
  const { allowed } = response;
  if (allowed !== undefined && typeof allowed !== "boolean") {
    const field = "Go struct field AdmissionResponse.response.allowed of type bool";
    throw new HookError(`json: cannot unmarshal ${typeof allowed} into ${field}`);
  }
  const patch = typeof response.patch === "string" && response.patch !== "" ? response.patch : undefined;
  if (version === "v1") checkAnswer(review, response, uid, patch, mutating);
  return {
    allowed: response.allowed === true,
    patch: mutating ? patch : undefined,
    // The older version never said which type it is.
    patchType: version === "v1" ? String(response.patchType ?? "") : "JSONPatch",
    status: isRecord(response.status) ? response.status : {},
    warnings: Array.isArray(response.warnings) ? response.warnings.map(String) : [],
  };
}

function checkAnswer(
  review: Record<string, unknown>,
  response: Record<string, unknown>,
  uid: string,
  patch: string | undefined,
  mutating: boolean,
): void {
  const got = typeof response.uid === "string" ? response.uid : "";
  if (got !== uid) {
    throw new InvalidAnswer(`expected response.uid=${JSON.stringify(uid)}, got ${JSON.stringify(got)}`);
  }
  const expected = "admission.k8s.io/v1, Kind=AdmissionReview";
  const kind = describeKind(review);
  if (kind !== expected) throw new InvalidAnswer(`expected webhook response of ${expected}, got ${kind}`);
  const { patchType } = response;
  const typed = patchType !== undefined && patchType !== null;
  if (!mutating) {
    if (patch !== undefined) throw new InvalidAnswer("validating webhook may not return response.patch");
    if (typed) throw new InvalidAnswer("validating webhook may not return response.patchType");
    return;
  }
  if (patch !== undefined && !typed) {
    throw new InvalidAnswer("webhook returned response.patch but not response.patchType");
  }
  if (patch === undefined && typed) {
    throw new InvalidAnswer("webhook returned response.patchType but not response.patch");
  }
  if (typed && patchType === "") throw new InvalidAnswer('webhook returned invalid response.patchType of ""');
}

function describeKind({ apiVersion, kind }: Record<string, unknown>): string {
  const version = typeof apiVersion === "string" ? apiVersion : "";
  return `${version.includes("/") ? version : `/${version}`}, Kind=${typeof kind === "string" ? kind : ""}`;
}

/** A webhook's refusal as the client is told it. */
export function denied(webhook: string, status: Record<string, unknown>): StatusError {
  const by = `admission webhook ${JSON.stringify(webhook)} denied the request`;
  const message = typeof status.message === "string" ? status.message : "";
  const reason = typeof status.reason === "string" ? status.reason : "";
  const why = message || reason;
  const code = typeof status.code === "number" && status.code >= 400 ? status.code : 400;
  return new StatusError({
    code,
    reason: reason || undefined,
    message: why === "" ? `${by} without explanation` : `${by}: ${why}`,
    details: isRecord(status.details) ? status.details : undefined,
  });
}

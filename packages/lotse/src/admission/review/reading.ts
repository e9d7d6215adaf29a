/** Reads what the API server asks: an AdmissionReview, or something that is none. Pure. */
import type { KubeBody } from "@lotse/client";
import { isObject } from "@lotse/client/meta";
import type {
  AdmissionOperation,
  AdmissionRequest,
  RequestedKind,
  RequestedResource,
  UserInfo,
} from "../../declare/index.ts";

/** The version of reviews that is spoken. */
export const REVIEW = { apiVersion: "admission.k8s.io/v1", kind: "AdmissionReview" } as const;

/** A review, read: the request without what only the connection knows, and its objects. */
export interface ReadReview {
  readonly request: Omit<AdmissionRequest, "headers" | "source" | "peer">;
  /** As it would be stored; undefined for a deletion. */
  readonly object: KubeBody | undefined;
  /** As it is stored; undefined for a creation. */
  readonly oldObject: KubeBody | undefined;
}

/** Why something is no review. */
export interface NotAReview {
  readonly problem: string;
}

const OPERATIONS: readonly unknown[] = ["CREATE", "UPDATE", "DELETE", "CONNECT"] satisfies AdmissionOperation[];

/** Reads a review; what is missing is named. */
export function readReview(body: unknown): ReadReview | NotAReview {
  if (!isObject(body)) return { problem: "the body is not an AdmissionReview, but no JSON object at all" };
  const { apiVersion, kind, request } = body;
  if (apiVersion !== REVIEW.apiVersion || kind !== REVIEW.kind) {
    return {
      problem: `the body is not an AdmissionReview of admission.k8s.io/v1, but ${named(kind)} of ${named(apiVersion)}`,
    };
  }
  if (!isObject(request)) return { problem: "the AdmissionReview has no request" };
  const { uid, operation, userInfo, options } = request;
  if (typeof uid !== "string" || uid === "") return { problem: "the request of the AdmissionReview has no uid" };
  if (!OPERATIONS.includes(operation)) {
    return { problem: `the request of the AdmissionReview has no operation that there is, but ${named(operation)}` };
  }
  const resource = readResource(request.resource);
  const requested = readKind(request.kind);
  if (!resource || !requested)
    return { problem: "the request of the AdmissionReview does not say which kind it is about" };
  if (!isObject(userInfo)) return { problem: "the request of the AdmissionReview does not say who sent it" };
  const [object, oldObject] = [request.object, request.oldObject].map((one) => (isObject(one) ? one : undefined));
  if (!object && !oldObject) return { problem: "the request of the AdmissionReview has no object" };
  return {
    request: {
      uid,
      operation: operation as AdmissionOperation,
      kind: requested,
      resource,
      requestKind: readKind(request.requestKind) ?? requested,
      requestResource: readResource(request.requestResource) ?? resource,
      subresource: textOf(request.subResource),
      name: textOf(request.name) ?? "",
      namespace: textOf(request.namespace),
      userInfo: { username: "", ...userInfo } as UserInfo,
      dryRun: request.dryRun === true,
      options: isObject(options) ? options : {},
    },
    object: object as KubeBody | undefined,
    oldObject: oldObject as KubeBody | undefined,
  };
}

/** An empty text says as little as none. */
function textOf(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}

function readKind(value: unknown): RequestedKind | undefined {
  if (!isObject(value) || typeof value.kind !== "string" || typeof value.version !== "string") return undefined;
  return { group: String(value.group ?? ""), version: value.version, kind: value.kind };
}

function readResource(value: unknown): RequestedResource | undefined {
  if (!isObject(value) || typeof value.resource !== "string" || typeof value.version !== "string") return undefined;
  return { group: String(value.group ?? ""), version: value.version, resource: value.resource };
}

/** What a stranger has sent, cut to what a line can bear. */
function named(value: unknown): string {
  return value === undefined ? "nothing" : JSON.stringify(value).slice(0, 80);
}

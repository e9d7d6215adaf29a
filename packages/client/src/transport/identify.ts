import { type Credentials, type Identity, IMPERSONATED_USER, readClaims, tokenOf } from "../config/index.ts";
import { isObject } from "../meta/index.ts";
import { ApiError, UnauthorizedError } from "./errors.ts";
import type { RawRequest, RawResponse, RequestHeaders, RequestOptions } from "./request.ts";

/** Who the server takes a caller for, and how that is known. */
export interface KnownUser {
  readonly username: string;
  readonly uid?: string;
  readonly groups: readonly string[];
  readonly extra: Readonly<Record<string, readonly string[]>>;
  /**
   * `SelfSubjectReview` and `TokenReview`: the server said so. `impersonation`, `certificate`, `token`: read off what is
   * sent, because the server does not tell.
   */
  readonly source: "SelfSubjectReview" | "TokenReview" | "impersonation" | "certificate" | "token";
}

/** What there is to find out with. */
export interface IdentifyContext {
  readonly send: (request: RawRequest) => Promise<RawResponse>;
  readonly credentials?: Pick<Credentials, "current"> | undefined;
  /** The headers that go with each request, where they impersonate a user. */
  readonly headers?: RequestHeaders | undefined;
}

const REVIEWS = "/apis/authentication.k8s.io/v1";

/**
 * Asks the server who we are: by SelfSubjectReview (Kubernetes 1.28), else by TokenReview, which few may do, else it is read
 * off the certificate or the service account's token. Rejects with the first refusal when nothing tells.
 *
 * @example
 * ```ts
 * const { username, source } = await identify({ send: (request) => client.raw(request), credentials });
 * ```
 */
export async function identify(context: IdentifyContext, o: RequestOptions = {}): Promise<KnownUser> {
  const { send, credentials, headers = {} } = context;
  const review = async (plural: string, kind: string, spec?: object): Promise<unknown> => {
    const body = { apiVersion: "authentication.k8s.io/v1", kind, ...(spec && { spec }) };
    const response = await send({ ...o, method: "POST", path: `${REVIEWS}/${plural}`, body });
    const { status } = await response.json<{ status?: unknown }>();
    return status;
  };
  let refusal: unknown;
  try {
    const status = await review("selfsubjectreviews", "SelfSubjectReview");
    if (isObject(status)) return userOf(status.userInfo, "SelfSubjectReview");
  } catch (error) {
    refusal = answered(error);
  }
  const impersonated = headers[IMPERSONATED_USER];
  if (typeof impersonated === "string") {
    const groups = [headers["impersonate-group"] ?? []].flat();
    return { username: utf8(impersonated), groups: groups.map(utf8), extra: {}, source: "impersonation" };
  }
  const identity = await credentials?.current();
  const token = identity && tokenOf(identity);
  if (token !== undefined) {
    try {
      const status = await review("tokenreviews", "TokenReview", { token });
      if (isObject(status) && status.authenticated === true) return userOf(status.user, "TokenReview");
    } catch (error) {
      answered(error);
    }
  }
  const known = identity && ((await fromCertificate(identity)) ?? fromToken(token));
  if (known) return known;
  throw refusal ?? new Error("the server answered a SelfSubjectReview without a status");
}

/** A server that says no can be asked otherwise; one that does not know us, or is not there, cannot. */
function answered(error: unknown): ApiError {
  if (error instanceof ApiError && !(error instanceof UnauthorizedError)) return error;
  throw error;
}

function userOf(info: unknown, source: KnownUser["source"]): KnownUser {
  const { username = "", uid, groups = [], extra = {} } = (isObject(info) ? info : {}) as Partial<KnownUser>;
  return { username, groups, extra, source, ...(uid === undefined ? {} : { uid }) };
}

/** The server takes the common name for the user and the organisations for the groups. */
async function fromCertificate({ tls }: Identity): Promise<KnownUser | undefined> {
  if (tls.cert === undefined) return undefined;
  const { X509Certificate } = await import("node:crypto");
  const lines = new X509Certificate(tls.cert).subject.split("\n");
  const values = (key: string) =>
    lines.flatMap((line) => (line.startsWith(`${key}=`) ? [line.slice(key.length + 1)] : []));
  const [username] = values("CN");
  return username === undefined ? undefined : { username, groups: values("O"), extra: {}, source: "certificate" };
}

/** Only of service accounts: what the server makes of another issuer's token is its own affair. */
function fromToken(token: string | undefined): KnownUser | undefined {
  const subject = token === undefined ? undefined : readClaims(token)?.sub;
  if (typeof subject !== "string" || !subject.startsWith("system:serviceaccount:")) return undefined;
  const namespace = subject.split(":")[2] ?? "";
  const groups = ["system:serviceaccounts", `system:serviceaccounts:${namespace}`, "system:authenticated"];
  return { username: subject, groups, extra: {}, source: "token" };
}

/** Headers hold bytes, see `impersonationHeaders`. */
const utf8 = (header: string): string => Buffer.from(header, "latin1").toString("utf8");

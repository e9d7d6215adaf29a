import { lookup } from "@lotse/client/meta";
import type { ReviewContext, ReviewHandler } from "../api/index.ts";
import {
  type ApiObject,
  type Backend,
  badRequest,
  conflict,
  type FieldError,
  fromStore,
  invalid,
  invalidValue,
  isRecord,
  notFound,
  objectAt,
  storeKey,
  timestamp,
} from "../registry/index.ts";
import type { ServiceAccountTokens, TokenRef } from "./tokens.ts";
import { SYSTEM } from "./users.ts";

const KIND = { group: "authentication.k8s.io", kind: "TokenRequest" };
const SHORTEST_SECONDS = 600;
const LONGEST_SECONDS = 2 ** 32;
/** What pods' volumes ask for. Such tokens last a year, because old programs do not read them again. */
const PROJECTED_SECONDS = 3_607;
const YEAR_SECONDS = 365 * 86_400;

/** `POST …/serviceaccounts/NAME/token` */
export function createTokenRequests(
  backend: Pick<Backend, "store" | "uuid">,
  tokens: ServiceAccountTokens,
): ReviewHandler {
  return (request, context) => {
    const { now } = context;
    const account = findAccount(backend, request, context);
    const spec = { ...objectAt(request, "spec") };
    const audiences = Array.isArray(spec.audiences) && spec.audiences.length > 0 ? spec.audiences : [tokens.issuer];
    const seconds = Number(spec.expirationSeconds);
    const errors = secondsErrors(seconds);
    if (errors.length > 0) throw invalid(KIND, "", errors);
    const bound = isRecord(spec.boundObjectRef) ? bind(backend, account, spec.boundObjectRef) : {};
    const issuedAt = Math.floor(now / 1_000);
    const lasting =
      bound.pod !== undefined && seconds === PROJECTED_SECONDS && audiences.every((one) => one === tokens.issuer);
    const { name, namespace = "", uid } = account.metadata;
    const token = tokens.issue({
      namespace,
      account: { name, uid },
      audiences: audiences.map(String),
      issuedAt,
      expiresAt: issuedAt + (lasting ? YEAR_SECONDS : seconds),
      id: backend.uuid(),
      ...bound,
      warnAfter: lasting ? issuedAt + seconds : undefined,
    });
    return {
      metadata: { ...request.metadata, name, namespace, uid, creationTimestamp: timestamp(now) },
      spec: { audiences, expirationSeconds: seconds, boundObjectRef: spec.boundObjectRef ?? null },
      status: { token, expirationTimestamp: timestamp((issuedAt + seconds) * 1_000) },
    };
  };
}

/** Tokens for the volumes of pods, as a kubelet asks for them. */
export function createPodTokens(
  backend: Pick<Backend, "store" | "uuid" | "clock">,
  tokens: ServiceAccountTokens,
): (pod: ApiObject, audience: string, seconds: number) => string {
  const handle = createTokenRequests(backend, tokens);
  return (pod, audience, seconds) => {
    const { namespace, name, uid } = pod.metadata;
    const spec = {
      audiences: audience === "" ? [] : [audience],
      expirationSeconds: seconds,
      boundObjectRef: { apiVersion: "v1", kind: "Pod", name, uid },
    };
    const request = { metadata: {}, spec } as unknown as ApiObject;
    const account = String(objectAt(pod, "spec").serviceAccountName || "default");
    const answer = handle(request, { user: SYSTEM, namespace, name: account, now: backend.clock.now() });
    return String(objectAt(answer, "status").token);
  };
}

function findAccount({ store }: Pick<Backend, "store">, request: ApiObject, context: ReviewContext): ApiObject {
  const { name = "", namespace = "" } = context;
  const wanted = request.metadata as Partial<ApiObject["metadata"]>;
  if (wanted.name && wanted.name !== name) {
    const text = "must match the service account name if specified";
    throw invalid(KIND, name, [invalidValue("metadata.name", wanted.name, text)]);
  }
  const entry = store.get("serviceaccounts", storeKey(namespace, name));
  if (!entry) throw notFound({ group: "", plural: "serviceaccounts" }, name);
  const account = fromStore(entry.object);
  const { uid } = account.metadata;
  if (wanted.uid && wanted.uid !== uid) {
    const text = `the UID in the token request (${wanted.uid}) does not match the UID of the service account (${uid})`;
    throw conflict({ group: KIND.group, plural: KIND.kind }, name, text);
  }
  return account;
}

function secondsErrors(seconds: number): FieldError[] {
  const field = "spec.expirationSeconds";
  if (seconds < SHORTEST_SECONDS) {
    return [invalidValue(field, seconds, "may not specify a duration less than 10 minutes")];
  }
  if (seconds > LONGEST_SECONDS) {
    return [invalidValue(field, seconds, "may not specify a duration larger than 2^32 seconds")];
  }
  return [];
}

type Bound = { pod?: TokenRef; secret?: TokenRef; node?: TokenRef };

/** A token that is bound to an object is void when the object is gone. */
function bind(backend: Pick<Backend, "store">, account: ApiObject, wanted: Record<string, unknown>): Bound {
  const { apiVersion = "", kind = "", name = "", uid = "" } = wanted as Record<string, string>;
  const plural = apiVersion === "v1" ? lookup(PLURALS, kind) : undefined;
  if (plural === undefined) {
    const [group, version] = apiVersion.includes("/") ? apiVersion.split("/") : ["", apiVersion];
    throw badRequest(`cannot bind token to object of type ${group}/${version}, Kind=${kind}`);
  }
  const { namespace = "" } = account.metadata;
  const object = find(backend, plural, plural === "nodes" ? name : storeKey(namespace, name));
  if (!object) throw notFound({ group: "", plural }, name);
  const { serviceAccountName, nodeName } = objectAt(object, "spec");
  if (kind === "Pod" && serviceAccountName !== account.metadata.name) {
    const own = JSON.stringify(account.metadata.name);
    throw badRequest(`cannot bind token for serviceaccount ${own} to pod running with different serviceaccount name.`);
  }
  if (uid !== "" && uid !== object.metadata.uid) {
    const text = `the UID in the bound object reference (${uid}) does not match the UID in record. The object might have been deleted and then recreated`;
    throw conflict({ group: "", plural: kind }, name, text);
  }
  const ref = { name, uid: object.metadata.uid };
  if (kind === "Secret") return { secret: ref };
  if (kind === "Node") return { node: ref };
  if (typeof nodeName !== "string" || nodeName === "") return { pod: ref };
  return { pod: ref, node: { name: nodeName, uid: find(backend, "nodes", nodeName)?.metadata.uid ?? "" } };
}

const PLURALS: Readonly<Record<string, string>> = { Pod: "pods", Secret: "secrets", Node: "nodes" };

function find({ store }: Pick<Backend, "store">, table: string, key: string): ApiObject | undefined {
  const entry = store.get(table, key);
  return entry && fromStore(entry.object);
}

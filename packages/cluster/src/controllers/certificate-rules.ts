/** What a request for a certificate says, as far as rules look at it. */
export interface SigningRequestFields {
  readonly commonName: string;
  readonly organizations: readonly string[];
  readonly dnsNames: readonly string[];
  readonly addresses: readonly string[];
  readonly emails: readonly string[];
  readonly uris: readonly string[];
}

/** For what and for how long a certificate is good. Times are real ones. */
export interface SigningTerms {
  readonly usages: readonly string[];
  readonly notBefore: number;
  readonly notAfter: number;
}

const MINUTE_MS = 60_000;
const YEAR_MS = 365 * 24 * 60 * MINUTE_MS;
const SHORTEST_MS = 10 * MINUTE_MS;
const BACKDATED_MS = 5 * MINUTE_MS;
/** Below this the end is not moved with the beginning. */
const SHORT_MS = 8 * 60 * MINUTE_MS;

/** How long a certificate lasts: what was asked for, but no longer than a year and no shorter than ten minutes. */
export function termsOf(usages: readonly string[], expirationSeconds: unknown, now: number): SigningTerms {
  const asked = typeof expirationSeconds === "number" ? expirationSeconds * 1_000 : YEAR_MS;
  const lifetime = Math.min(YEAR_MS, Math.max(SHORTEST_MS, asked));
  const moved = lifetime < SHORT_MS ? 0 : BACKDATED_MS;
  return { usages, notBefore: now - BACKDATED_MS, notAfter: now + lifetime - moved };
}

/** Why a signer refuses a request; undefined when it does not. */
export type Complaint = (request: SigningRequestFields, usages: readonly string[]) => string | undefined;

const isExactly = (usages: readonly string[], wanted: readonly string[]): boolean => {
  const given = new Set(usages);
  return given.size === wanted.length && wanted.every((usage) => given.has(usage));
};

const isOfNodes = ({ organizations }: SigningRequestFields): boolean =>
  organizations.length === 1 && organizations[0] === "system:nodes";

const NO_NODES = "subject organization is not system:nodes";
const NO_NODE = "subject common name does not begin with system:node:";

function usageComplaint(usages: readonly string[], purpose: string): string | undefined {
  // Keys that are not of RSA encrypt nothing.
  const bare = ["digital signature", purpose];
  const wanted = [...bare, "key encipherment"];
  if (isExactly(usages, wanted) || isExactly(usages, bare)) return undefined;
  return `usages did not match [${wanted.sort().join(" ")}]`;
}

const ofClient: Complaint = (_, usages) => {
  for (const usage of usages) {
    if (!["digital signature", "key encipherment", "client auth"].includes(usage)) {
      return `invalid usage for client certificate: ${usage}`;
    }
  }
  return usages.includes("client auth") ? undefined : "missing required usage for client certificate: client auth";
};

const ofKubeletClient: Complaint = (request, usages) => {
  if (!isOfNodes(request)) return NO_NODES;
  const others = [
    ["DNS", request.dnsNames],
    ["Email", request.emails],
    ["IP", request.addresses],
    ["URI", request.uris],
  ] as const;
  for (const [kind, names] of others) if (names.length > 0) return `${kind} subjectAltNames are not allowed`;
  if (!request.commonName.startsWith("system:node:")) return NO_NODE;
  return usageComplaint(usages, "client auth");
};

const ofKubeletServer: Complaint = (request, usages) => {
  if (!isOfNodes(request)) return NO_NODES;
  if (request.dnsNames.length === 0 && request.addresses.length === 0) return "DNS or IP subjectAltName is required";
  if (request.emails.length > 0) return "Email subjectAltNames are not allowed";
  if (request.uris.length > 0) return "URI subjectAltNames are not allowed";
  return usageComplaint(usages, "server auth") ?? (request.commonName.startsWith("system:node:") ? undefined : NO_NODE);
};

/** The signer whose requests kubelets send when they start. */
export const KUBELET_CLIENT = "kubernetes.io/kube-apiserver-client-kubelet";

/** The signers that every cluster has. */
export const SIGNERS: ReadonlyMap<string, Complaint> = new Map([
  ["kubernetes.io/kube-apiserver-client", ofClient],
  [KUBELET_CLIENT, ofKubeletClient],
  ["kubernetes.io/kubelet-serving", ofKubeletServer],
]);

const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

/** When a request is cleared away, because its requester no longer needs it; undefined while that cannot be told. */
export function deadlineOf(
  created: string | undefined,
  conditions: readonly Readonly<Record<string, unknown>>[],
  issued: boolean,
): number | undefined {
  const after = (time: unknown, ms: number): number => Date.parse(String(time)) + ms;
  if (conditions.length === 0) return after(created, DAY_MS);
  const deadlines = conditions.flatMap(({ type, lastUpdateTime }) => {
    if (lastUpdateTime === undefined) return [];
    if (type === "Denied" || type === "Failed") return [after(lastUpdateTime, HOUR_MS)];
    return type === "Approved" ? [after(lastUpdateTime, issued ? HOUR_MS : DAY_MS)] : [];
  });
  const first = Math.min(...deadlines);
  return Number.isFinite(first) ? first : undefined;
}

/** What a test wants to know about a request that changed something, from the audit log or the embedded cluster. */
export interface Write {
  readonly verb: string;
  /** `configmaps`, `widgets.example.com` */
  readonly resource: string;
  readonly namespace: string | undefined;
  readonly name: string | undefined;
  readonly subresource: string | undefined;
  readonly user: string;
  readonly userAgent: string;
}

/** One line of kube-apiserver's audit log (audit.k8s.io/v1), as far as tests read it. */
export interface AuditEvent {
  readonly auditID: string;
  readonly level: "Metadata" | "Request" | "RequestResponse";
  readonly stage: "RequestReceived" | "ResponseStarted" | "ResponseComplete" | "Panic";
  readonly requestURI: string;
  readonly verb: string;
  readonly user: { readonly username: string; readonly groups?: readonly string[] };
  readonly userAgent?: string;
  readonly objectRef?: {
    readonly resource?: string;
    readonly namespace?: string;
    readonly name?: string;
    readonly apiGroup?: string;
    readonly apiVersion?: string;
    readonly subresource?: string;
  };
  readonly responseStatus?: { readonly code?: number; readonly reason?: string };
  readonly requestObject?: unknown;
  readonly responseObject?: unknown;
  readonly requestReceivedTimestamp: string;
}

/** Bodies of writes, the bare facts of reads; what the server does to itself is noise. */
export const auditPolicy = {
  apiVersion: "audit.k8s.io/v1",
  kind: "Policy",
  omitStages: ["RequestReceived"],
  rules: [
    { level: "None", users: ["system:apiserver"] },
    { level: "RequestResponse", verbs: ["create", "update", "patch", "delete", "deletecollection"] },
    { level: "Metadata" },
  ],
};

/** Reads an audit log; the server may be in the middle of writing its last line. */
export function parseAuditLog(text: string): AuditEvent[] {
  const complete = text.slice(0, text.lastIndexOf("\n") + 1);
  return complete
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as AuditEvent);
}

const writeVerbs = new Set(["create", "update", "patch", "delete", "deletecollection"]);

/** Whether a request changes something. A review (`kubectl auth whoami`) is created, but only to be answered. */
export function isWrite(verb: string, resource: string): boolean {
  return writeVerbs.has(verb) && !/reviews\.(authentication|authorization)\.k8s\.io$/.test(resource);
}

/** Whether a request only asks what it would do. */
export function isDryRun(uri: string): boolean {
  return /[?&]dryRun=All(?:&|$)/.test(uri);
}

/**
 * The successful writes of people and operators, in order; the cluster's own controllers are left out, and so are dry runs,
 * which write nothing.
 */
export function writesOf(events: readonly AuditEvent[]): Write[] {
  const writes: Write[] = [];
  for (const { stage, verb, requestURI, objectRef, user, userAgent, responseStatus } of events) {
    const resource = [objectRef?.resource, objectRef?.apiGroup].filter(Boolean).join(".");
    if (stage !== "ResponseComplete" || !isWrite(verb, resource) || user.username.startsWith("system:")) continue;
    if ((responseStatus?.code ?? 200) >= 400 || isDryRun(requestURI)) continue;
    writes.push({
      verb,
      resource,
      namespace: objectRef?.namespace,
      name: objectRef?.name,
      subresource: objectRef?.subresource,
      user: user.username,
      userAgent: userAgent ?? "",
    });
  }
  return writes;
}

import type { Json, Script } from "../script.ts";
import { apply, get, partial, patch, post, put, remove, table } from "./requests.ts";

const inNamespace = "/api/v1/namespaces/{{ns}}";
const secrets = `${inNamespace}/secrets`;
const accounts = `${inNamespace}/serviceaccounts`;
const events = `${inNamespace}/events`;
const newEvents = "/apis/events.k8s.io/v1/namespaces/{{ns}}/events";
const leases = "/apis/coordination.k8s.io/v1/namespaces/{{ns}}/leases";
const secret = (name: string, more: { [key: string]: Json } = {}): Json => ({
  apiVersion: "v1",
  kind: "Secret",
  metadata: { name },
  ...more,
});
const lease = (name: string, spec: { [key: string]: Json } = {}, meta: { [key: string]: Json } = {}): Json => ({
  apiVersion: "coordination.k8s.io/v1",
  kind: "Lease",
  metadata: { name, ...meta },
  spec,
});
const event = (more: { [key: string]: Json } = {}): Json => ({
  metadata: { name: "e1" },
  involvedObject: { kind: "ConfigMap", apiVersion: "v1", name: "x", namespace: "{{ns}}" },
  reason: "Because",
  message: "it is so",
  type: "Normal",
  ...more,
});

/** Secrets, their types and their two kinds of data. */
export const secretsScript: Script = {
  title: "Secrets",
  namespace: "diff-secrets",
  steps: [
    post(
      "creates with stringData",
      secrets,
      secret("one", { data: { a: "MQ==", b: "Mg==" }, stringData: { b: "two", c: "three" } }),
    ),
    get("reads", `${secrets}/one`),
    post("creates with bad base64", secrets, secret("bad", { data: { a: "%" } })),
    post("creates with a bad key", secrets, secret("bad", { data: { "a b": "" } })),
    post("creates with a type", secrets, secret("typed", { type: "a.io/b" })),
    post("creates a TLS secret without keys", secrets, secret("tls", { type: "kubernetes.io/tls" })),
    post(
      "creates a dockerconfigjson without key",
      secrets,
      secret("docker", { type: "kubernetes.io/dockerconfigjson" }),
    ),
    post(
      "creates a dockerconfigjson with bad JSON",
      secrets,
      secret("docker", { type: "kubernetes.io/dockerconfigjson", stringData: { ".dockerconfigjson": "{" } }),
    ),
    post("creates a basic-auth without keys", secrets, secret("basic", { type: "kubernetes.io/basic-auth" })),
    post("creates an ssh-auth without key", secrets, secret("ssh", { type: "kubernetes.io/ssh-auth" })),
    post(
      "creates a token without its account",
      secrets,
      secret("token", { type: "kubernetes.io/service-account-token" }),
    ),
    patch("merge", "changes the type", `${secrets}/one`, { type: "a.io/c" }),
    patch("merge", "merges stringData", `${secrets}/one`, { stringData: { d: "four" } }),
    patch("strategic", "merges stringData strategically", `${secrets}/one`, { stringData: { e: "five" } }),
    apply("m", "applies stringData", `${secrets}/one`, secret("one", { stringData: { f: "six" } })),
    put("replaces without type", `${secrets}/one`, secret("one", { data: { a: "MQ==" } })),
    put("replaces by an empty one", `${secrets}/one`, secret("one")),
    post("creates an immutable one", secrets, secret("fixed", { immutable: true, data: { a: "MQ==" } })),
    patch("merge", "changes an immutable one", `${secrets}/fixed`, { data: { a: "Mg==" } }),
    table("lists as a table", secrets),
    get("selects by type", secrets, { fieldSelector: "type=a.io/b" }),
    get("selects by an unknown field", secrets, { fieldSelector: "data.a=x" }),
    remove("deletes", `${secrets}/one`),
  ],
};

/** Namespaces from the first to the last breath. */
export const namespacesScript: Script = {
  title: "Namespaces",
  steps: [
    post("creates", "/api/v1/namespaces", { apiVersion: "v1", kind: "Namespace", metadata: { name: "diff-n1" } }),
    get("reads", "/api/v1/namespaces/diff-n1"),
    post("creates one that exists", "/api/v1/namespaces", {
      apiVersion: "v1",
      kind: "Namespace",
      metadata: { name: "diff-n1" },
    }),
    post("creates with a bad name", "/api/v1/namespaces", {
      apiVersion: "v1",
      kind: "Namespace",
      metadata: { name: "a.b" },
    }),
    post("creates with a namespace", "/api/v1/namespaces", {
      apiVersion: "v1",
      kind: "Namespace",
      metadata: { name: "diff-n2", namespace: "x" },
    }),
    post("creates with spec and status", "/api/v1/namespaces", {
      apiVersion: "v1",
      kind: "Namespace",
      metadata: { name: "diff-n3" },
      spec: { finalizers: ["a.io/b"] },
      status: { phase: "Terminating" },
    }),
    post("creates by generateName", "/api/v1/namespaces", {
      apiVersion: "v1",
      kind: "Namespace",
      metadata: { generateName: "diff-gen-" },
    }),
    patch("merge", "labels", "/api/v1/namespaces/diff-n1", { metadata: { labels: { a: "b" } } }),
    patch("merge", "takes the name label away", "/api/v1/namespaces/diff-n1", {
      metadata: { labels: { "kubernetes.io/metadata.name": null } },
    }),
    patch("merge", "changes the name label", "/api/v1/namespaces/diff-n1", {
      metadata: { labels: { "kubernetes.io/metadata.name": "x" } },
    }),
    patch("merge", "changes the status of the main resource", "/api/v1/namespaces/diff-n1", {
      status: { phase: "Terminating" },
    }),
    patch("merge", "changes spec", "/api/v1/namespaces/diff-n1", { spec: { finalizers: [] } }),
    put("replaces", "/api/v1/namespaces/diff-n1", {
      apiVersion: "v1",
      kind: "Namespace",
      metadata: { name: "diff-n1", labels: { c: "d" } },
    }),
    get("reads the status", "/api/v1/namespaces/diff-n1/status"),
    patch("merge", "patches the status", "/api/v1/namespaces/diff-n1/status", {
      status: { conditions: [{ type: "X", status: "True", reason: "Y", message: "z" }] },
    }),
    table("reads as a table", "/api/v1/namespaces/diff-n1"),
    get("reads as a partial object", "/api/v1/namespaces/diff-n1", {}, { accept: partial }),
    get("selects by phase", "/api/v1/namespaces", { fieldSelector: "status.phase=Active,metadata.name=diff-n1" }),
    get("selects by an unknown field", "/api/v1/namespaces", { fieldSelector: "spec.x=1" }),
    get(
      "waits for its service account",
      "/api/v1/namespaces/diff-n1/serviceaccounts/default",
      {},
      { until: { status: 200 }, view: (body) => (body as { kind: Json }).kind },
    ),
    post("puts something in that stays", "/api/v1/namespaces/diff-n1/configmaps", {
      metadata: { name: "held", finalizers: ["a.io/x"] },
    }),
    remove("deletes one that may not go", "/api/v1/namespaces/default"),
    remove("deletes another that may not go", "/api/v1/namespaces/kube-system"),
    remove("deletes dry", "/api/v1/namespaces/diff-n1", undefined, { query: { dryRun: "All" } }),
    remove("deletes", "/api/v1/namespaces/diff-n1"),
    get(
      "waits until only what stays is left",
      "/api/v1/namespaces/diff-n1",
      {},
      { until: { status: 200, path: "status.conditions.5.type", is: "NamespaceFinalizersRemaining" } },
    ),
    remove("deletes again", "/api/v1/namespaces/diff-n1", undefined, {
      view: (body) => (body as { kind: Json; status?: Json }).kind,
    }),
    post("creates in a terminating one", "/api/v1/namespaces/diff-n1/configmaps", { metadata: { name: "late" } }),
    get("reads in a terminating one", "/api/v1/namespaces/diff-n1/configmaps/held"),
    patch("merge", "changes in a terminating one", "/api/v1/namespaces/diff-n1/configmaps/held", { data: { a: "1" } }),
    apply("m", "applies in a terminating one", "/api/v1/namespaces/diff-n1/configmaps/late", {
      apiVersion: "v1",
      kind: "ConfigMap",
    }),
    table("reads a terminating one as a table", "/api/v1/namespaces/diff-n1"),
    patch("merge", "lets the last one go", "/api/v1/namespaces/diff-n1/configmaps/held", {
      metadata: { finalizers: null },
    }),
    get("waits for the end", "/api/v1/namespaces/diff-n1", {}, { until: { status: 404 } }),
    remove("deletes one with a finalizer of its own", "/api/v1/namespaces/diff-n3"),
    put(
      "finalizes",
      "/api/v1/namespaces/diff-n3/finalize",
      { apiVersion: "v1", kind: "Namespace", metadata: { name: "diff-n3" }, spec: { finalizers: [] } },
      { view: (body) => (body as { kind: Json }).kind },
    ),
    get("waits for the end after finalizing", "/api/v1/namespaces/diff-n3", {}, { until: { status: 404 } }),
  ],
};

/** Events in both forms, Leases, ServiceAccounts, Services. */
export const smallKinds: Script = {
  title: "small kinds",
  namespace: "diff-small",
  steps: [
    post("posts an event without kind", events, event()),
    get("reads an event", `${events}/e1`),
    get("reads an event in its new form", `${newEvents}/e1`),
    post(
      "posts an event about another namespace",
      events,
      event({ metadata: { name: "e2" }, involvedObject: { kind: "Pod", namespace: "other", name: "x" } }),
    ),
    post(
      "posts an event about the cluster",
      events,
      event({ metadata: { name: "e2" }, involvedObject: { kind: "Node", name: "x" } }),
    ),
    post("posts an event with both names", events, event({ metadata: { name: "e1", generateName: "both-" } })),
    post(
      "posts an event with times",
      events,
      event({
        metadata: { generateName: "evt-" },
        firstTimestamp: "2026-01-02T03:04:05.123456+00:00",
        lastTimestamp: "2026-01-02T03:04:05+02:00",
        eventTime: "2026-01-02T03:04:05.123456Z",
        count: 2,
        action: "Action?",
        reportingComponent: "x.io/y",
        reportingInstance: "z",
        source: { component: "x" },
      }),
    ),
    post("posts an event with a bad time", events, event({ metadata: { name: "e3" }, firstTimestamp: "yesterday" })),
    post(
      "posts an event with eventTime alone",
      events,
      event({ metadata: { name: "e3" }, eventTime: "2026-01-02T03:04:05.123456Z" }),
    ),
    patch("strategic", "counts an event", `${events}/e1`, { count: 5, lastTimestamp: "2026-01-02T03:04:06Z" }),
    post("posts a new event", newEvents, {
      metadata: { name: "n1" },
      eventTime: "2026-01-02T03:04:05.123456Z",
      type: "Normal",
      reason: "R",
      note: "n",
      action: "a",
      reportingController: "x.io/y",
      reportingInstance: "z",
      regarding: { kind: "ConfigMap", apiVersion: "v1", name: "x", namespace: "{{ns}}" },
    }),
    post("posts an incomplete new event", newEvents, { metadata: { name: "n2" }, regarding: { namespace: "{{ns}}" } }),
    post("posts a new event with a short time", newEvents, {
      metadata: { name: "n2" },
      eventTime: "2026-01-02T03:04:05Z",
      type: "Odd",
      reason: "R",
      action: "a",
      reportingController: "bad name",
      reportingInstance: "z",
      regarding: { namespace: "{{ns}}" },
    }),
    get("reads a new event in its old form", `${events}/n1`),
    get("selects events", events, {
      fieldSelector: "involvedObject.name=x,involvedObject.kind=ConfigMap,reason=Because",
    }),
    get("selects events by an unknown field", events, { fieldSelector: "nothing=x" }),
    get("selects new events", newEvents, { fieldSelector: "regarding.name=x,reason=R" }),
    table("lists events as a table", events, { fieldSelector: "metadata.name=e1" }),
    remove("deletes an event", `${events}/e1`),
    remove("deletes all events", events, undefined, { view: (body) => (body as { kind: Json }).kind }),

    post(
      "creates a lease",
      leases,
      lease("l", {
        holderIdentity: "me",
        leaseDurationSeconds: 15,
        acquireTime: "2026-01-02T03:04:05.000000Z",
        renewTime: "2026-01-02T03:04:05.123456Z",
        leaseTransitions: 0,
      }),
      { capture: { rv: "metadata.resourceVersion" } },
    ),
    ...[
      "2026-01-02T03:04:05.1Z",
      "2026-01-02T03:04:05.123Z",
      "2026-01-02T03:04:05.1234567Z",
      "2026-01-02T03:04:05.123456+01:00",
      "2026-01-02T03:04:05Z",
      "nonsense",
      5,
    ].map((renewTime) =>
      post(`creates a lease renewed at ${renewTime}`, leases, lease("t", { renewTime }), { query: { dryRun: "All" } }),
    ),
    post("creates a lease with bad numbers", leases, lease("t", { leaseDurationSeconds: 0, leaseTransitions: -1 })),
    post("creates a lease with a text for a number", leases, lease("t", { leaseDurationSeconds: "5" })),
    post("creates a lease with a fraction for a number", leases, lease("t", { leaseDurationSeconds: 1.5 })),
    post("creates a lease with a number that is too large", leases, lease("t", { leaseDurationSeconds: 3000000000 })),
    put("replaces a lease without a version", `${leases}/l`, lease("l", { holderIdentity: "you" })),
    put("replaces a lease", `${leases}/l`, lease("l", { holderIdentity: "you" }, { resourceVersion: "{{rv}}" })),
    put(
      "replaces a lease with a stale version",
      `${leases}/l`,
      lease("l", { holderIdentity: "they" }, { resourceVersion: "{{rv}}" }),
    ),
    put("creates a lease by replacing", `${leases}/new`, lease("new", { holderIdentity: "me" })),
    put("creates a lease by replacing with a version", `${leases}/newer`, lease("newer", {}, { resourceVersion: "1" })),
    patch("merge", "merges a lease with a bad time", `${leases}/l`, {
      spec: { renewTime: "2026-01-02T03:04:05.123Z" },
    }),
    patch("merge", "merges a lease", `${leases}/l`, { spec: { renewTime: "2026-01-02T03:04:05.123456Z" } }),
    table("lists leases as a table", leases),
    remove("deletes a lease", `${leases}/l`),

    post("creates a service account", accounts, { apiVersion: "v1", kind: "ServiceAccount", metadata: { name: "sa" } }),
    table("reads a service account as a table", `${accounts}/sa`),
    post("asks for a short token", `${accounts}/sa/token`, {
      apiVersion: "authentication.k8s.io/v1",
      kind: "TokenRequest",
      spec: { expirationSeconds: 5 },
    }),
    post("asks for a token of one that is not there", `${accounts}/absent/token`, {
      apiVersion: "authentication.k8s.io/v1",
      kind: "TokenRequest",
      spec: {},
    }),
    get("gets a token", `${accounts}/sa/token`),
    post("creates a bad service account", accounts, {
      apiVersion: "v1",
      kind: "ServiceAccount",
      metadata: { name: "SA" },
    }),
    remove("deletes a service account", `${accounts}/sa`),

    post("creates a headless service", `${inNamespace}/services`, {
      apiVersion: "v1",
      kind: "Service",
      metadata: { name: "s" },
      spec: { clusterIP: "None", ports: [{ port: 80 }], selector: { a: "b" } },
    }),
    post("creates a service without ports", `${inNamespace}/services`, {
      apiVersion: "v1",
      kind: "Service",
      metadata: { name: "s2" },
      spec: {},
    }),
    post("creates a service with a bad name", `${inNamespace}/services`, {
      apiVersion: "v1",
      kind: "Service",
      metadata: { name: "1s" },
      spec: { clusterIP: "None" },
    }),
    post(
      "creates a service with a bad port",
      `${inNamespace}/services`,
      {
        apiVersion: "v1",
        kind: "Service",
        metadata: { name: "s3" },
        spec: { ports: [{ port: 70000, protocol: "X" }] },
      },
      { anyOrder: true },
    ),
    remove("deletes a service", `${inNamespace}/services/s`),
    get("reads endpoints", `${inNamespace}/endpoints`, {}, { view: (body) => (body as { kind: Json }).kind }),
  ],
};

/** Questions about oneself and others. */
export const reviews: Script = {
  title: "reviews",
  steps: [
    post("asks who one is", "/apis/authentication.k8s.io/v1/selfsubjectreviews", {
      apiVersion: "authentication.k8s.io/v1",
      kind: "SelfSubjectReview",
    }),
    post("asks what one may", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", {
      apiVersion: "authorization.k8s.io/v1",
      kind: "SelfSubjectAccessReview",
      spec: { resourceAttributes: { verb: "get", resource: "pods", namespace: "default" } },
    }),
    post("asks what one may with a path", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", {
      apiVersion: "authorization.k8s.io/v1",
      kind: "SelfSubjectAccessReview",
      spec: { nonResourceAttributes: { verb: "get", path: "/healthz" } },
    }),
    post("asks what one may without saying what", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", {
      apiVersion: "authorization.k8s.io/v1",
      kind: "SelfSubjectAccessReview",
      spec: {},
    }),
    post("asks what one may with both", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", {
      apiVersion: "authorization.k8s.io/v1",
      kind: "SelfSubjectAccessReview",
      spec: {
        nonResourceAttributes: { verb: "get", path: "/healthz" },
        resourceAttributes: { verb: "get", resource: "pods" },
      },
    }),
    post("asks for rules without a namespace", "/apis/authorization.k8s.io/v1/selfsubjectrulesreviews", {
      apiVersion: "authorization.k8s.io/v1",
      kind: "SelfSubjectRulesReview",
      spec: {},
    }),
    post(
      "asks for rules",
      "/apis/authorization.k8s.io/v1/selfsubjectrulesreviews",
      { apiVersion: "authorization.k8s.io/v1", kind: "SelfSubjectRulesReview", spec: { namespace: "default" } },
      { view: (body) => Object.keys(body as object).sort() },
    ),
    post("reviews an unknown token", "/apis/authentication.k8s.io/v1/tokenreviews", {
      apiVersion: "authentication.k8s.io/v1",
      kind: "TokenReview",
      spec: { token: "nonsense" },
    }),
    post("reviews no token", "/apis/authentication.k8s.io/v1/tokenreviews", {
      apiVersion: "authentication.k8s.io/v1",
      kind: "TokenReview",
      spec: {},
    }),
    post("asks what a master may", "/apis/authorization.k8s.io/v1/subjectaccessreviews", {
      apiVersion: "authorization.k8s.io/v1",
      kind: "SubjectAccessReview",
      spec: { user: "u", groups: ["system:masters"], resourceAttributes: { verb: "get", resource: "pods" } },
    }),
    post("asks what nobody may", "/apis/authorization.k8s.io/v1/subjectaccessreviews", {
      apiVersion: "authorization.k8s.io/v1",
      kind: "SubjectAccessReview",
      spec: { resourceAttributes: { verb: "get", resource: "pods" } },
    }),
    get("lists reviews", "/apis/authentication.k8s.io/v1/selfsubjectreviews"),
    get("reads a review", "/apis/authentication.k8s.io/v1/selfsubjectreviews/x"),
    post(
      "asks who one is as a table",
      "/apis/authentication.k8s.io/v1/selfsubjectreviews",
      { apiVersion: "authentication.k8s.io/v1", kind: "SelfSubjectReview" },
      { accept: "application/json;as=Table;g=meta.k8s.io;v=v1", view: (body) => (body as { kind: Json }).kind },
    ),
  ],
};

import type { Json, Script } from "../script.ts";
import { apply, get, patch, post, put, remove, table, tables } from "./requests.ts";

type Fields = { readonly [key: string]: Json };
const deployments = "/apis/apps/v1/namespaces/{{ns}}/deployments";
const pods = "/api/v1/namespaces/{{ns}}/pods";
const one = `${deployments}/one`;
const pod = `${pods}/p`;
const labels = { app: "x" };
const kindOf = (body: Json): Json => (body as { kind: Json }).kind;

const deployment: Json = {
  apiVersion: "apps/v1",
  kind: "Deployment",
  metadata: { name: "one" },
  spec: {
    replicas: 1,
    selector: { matchLabels: labels },
    template: { metadata: { labels }, spec: { containers: [{ name: "c", image: "i:1" }] } },
  },
};
const scale = (replicas: number, meta: Fields = {}): Json => ({
  apiVersion: "autoscaling/v1",
  kind: "Scale",
  metadata: { name: "one", namespace: "{{ns}}", ...meta },
  spec: { replicas },
});
const config = (spec: Fields): Json => ({
  apiVersion: "apps/v1",
  kind: "Deployment",
  metadata: { name: "one" },
  spec: { selector: { matchLabels: labels }, ...spec },
});
const template: Json = { metadata: { labels }, spec: { containers: [{ name: "c", image: "i:1" }] } };
const csr =
  "LS0tLS1CRUdJTiBDRVJUSUZJQ0FURSBSRVFVRVNULS0tLS0KTUlIS01IRUNBUUF3RHpFTk1Bc0dBMVVFQXd3RVpHbG1aakJaTUJNR0J5cUdTTTQ5QWdFR0NDcUdTTTQ5QXdFSApBMElBQk9tT2ppSzM1Wis5cXdyQWh1V1pNR2h5Y2R6UlQyNG0rQURFcnBHVjZ3Smx2L01NQW8rRzdGcG1tcUpsCjVhSk9VQStGczRVdGNkWXlTVUx5N1R1eERFT2dBREFLQmdncWhrak9QUVFEQWdOSkFEQkdBaUVBNnVsNXJsK3AKalptd1Fjb0FxZDFqMTM0Z1lmUmgzNno5Z0syRmprakVHODRDSVFDY1VybEJTNFlXbG5oY1pCYzh4NlUvTERoawpTNGJhYmFHVjZEbTA1cFg2TVE9PQotLS0tLUVORCBDRVJUSUZJQ0FURSBSRVFVRVNULS0tLS0K";

/** What lies below an object: its status, its scale, and what only some kinds have. */
export const subresources: Script = {
  title: "subresources",
  namespace: "diff-sub",
  steps: [
    post("creates a deployment", deployments, deployment, { capture: { rv: "metadata.resourceVersion" } }),
    get("reads the scale", `${one}/scale`, {}, { capture: { srv: "metadata.resourceVersion" } }),
    put("replaces the scale", `${one}/scale`, scale(3)),
    put("replaces the scale with a stale version", `${one}/scale`, scale(4, { resourceVersion: "{{srv}}" })),
    put("replaces the scale by a negative", `${one}/scale`, scale(-1)),
    put("replaces the scale under another name", `${one}/scale`, scale(2, { name: "two" })),
    put("replaces the scale of one that is not there", `${deployments}/absent/scale`, scale(2, { name: "absent" })),
    patch("merge", "merges the scale", `${one}/scale`, { spec: { replicas: 5 } }),
    patch("strategic", "merges the scale strategically", `${one}/scale`, { spec: { replicas: 6 } }),
    patch("json", "patches the scale", `${one}/scale`, [{ op: "replace", path: "/spec/replicas", value: 7 }]),
    patch("merge", "merges an unknown field into the scale", `${one}/scale`, { spec: { bogus: 1 } }),
    patch("merge", "merges a text into the scale", `${one}/scale`, { spec: { replicas: "x" } }),
    patch("merge", "merges the scale dry", `${one}/scale`, { spec: { replicas: 9 } }, { query: { dryRun: "All" } }),
    get("reads who scaled", one),
    table("reads the scale as a table", `${one}/scale`, {}, { view: kindOf }),
    remove("deletes a scale", `${one}/scale`),
    post("posts a scale", `${one}/scale`, scale(1)),

    apply("owner", "applies the replicas", one, config({ replicas: 7, template })),
    patch(
      "merge",
      "scales what is applied",
      `${one}/scale`,
      { spec: { replicas: 8 } },
      { query: { fieldManager: "scaler" } },
    ),
    get("reads who owns the replicas", one),
    apply("owner", "conflicts with the scale", one, config({ replicas: 7, template })),
    apply("owner", "gives the replicas up", one, config({ template })),
    apply("scaler", "applies the scale", `${one}/scale`, scale(2), { query: { force: "true" } }),
    apply("other", "conflicts in the scale", `${one}/scale`, scale(3)),
    get("reads who owns the scale", one),

    get("reads the status", `${one}/status`),
    patch("merge", "patches the status", `${one}/status`, {
      metadata: { labels: { with: "status" } },
      spec: { replicas: 99 },
      status: { replicas: 2, observedGeneration: 1 },
    }),
    patch("strategic", "patches a condition", `${one}/status`, {
      status: { conditions: [{ type: "Available", status: "True", reason: "R", message: "m" }] },
    }),
    patch("strategic", "patches another condition", `${one}/status`, {
      status: { conditions: [{ type: "Progressing", status: "False", reason: "R", message: "m" }] },
    }),
    apply("status", "applies a status", `${one}/status`, {
      apiVersion: "apps/v1",
      kind: "Deployment",
      metadata: { name: "one" },
      status: { readyReplicas: 1 },
    }),
    put("replaces the status", `${one}/status`, {
      ...(deployment as Fields),
      status: { replicas: 1, availableReplicas: 1 },
    }),
    patch("merge", "patches the status badly", `${one}/status`, { status: { replicas: -1 } }),
    patch("merge", "patches the status through the deployment", one, { status: { replicas: 77 } }),
    post("posts a status", `${one}/status`, deployment),
    remove("deletes a status", `${one}/status`),
    get("reads what all of them left", one),
    remove("deletes the deployment", one),

    post("creates a pod", pods, {
      apiVersion: "v1",
      kind: "Pod",
      metadata: { name: "p" },
      spec: { automountServiceAccountToken: false, containers: [{ name: "c", image: "i:1" }] },
    }),
    get("reads its log", `${pod}/log`),
    get("reads its log of a container that it has not", `${pod}/log`, { container: "d" }),
    get("reads a log of one that is not there", `${pods}/absent/log`),
    get("reads its log with a bad number", `${pod}/log`, { tailLines: "x" }),
    get("reads its log with a negative number", `${pod}/log`, { tailLines: "-1" }),
    get("reads its log since two times", `${pod}/log`, { sinceSeconds: "1", sinceTime: "2026-01-02T03:04:05Z" }),
    patch("merge", "sets its phase", `${pod}/status`, { status: { phase: "Running", podIP: "10.1.2.3" } }),
    patch("strategic", "adds a condition to it", `${pod}/status`, {
      status: { conditions: [{ type: "Ready", status: "True" }] },
    }),
    patch("merge", "sets a phase that there is not", `${pod}/status`, { status: { phase: "Flying" } }),
    table("reads a running pod as a table", pod),
    get("selects it by its phase", pods, { fieldSelector: "status.phase=Running" }),
    get("selects it by its node", pods, { fieldSelector: "spec.nodeName=none" }),
    get("selects it by its address", pods, { fieldSelector: "status.podIP=10.1.2.3" }),
    get("selects it by an unknown field", pods, { fieldSelector: "spec.containers=1" }),
    get("reads its ephemeral containers", `${pod}/ephemeralcontainers`),
    patch("strategic", "adds an ephemeral container", `${pod}/ephemeralcontainers`, {
      spec: { ephemeralContainers: [{ name: "d", image: "j:1" }] },
    }),
    patch("strategic", "takes the ephemeral container away", `${pod}/ephemeralcontainers`, {
      spec: { ephemeralContainers: [{ name: "d", $patch: "delete" }] },
    }),
    patch("strategic", "adds an ephemeral container to the pod itself", pod, {
      spec: { ephemeralContainers: [{ name: "e", image: "j:1" }] },
    }),
    get("reads its size", `${pod}/resize`),
    patch("strategic", "resizes it", `${pod}/resize`, {
      spec: { containers: [{ name: "c", resources: { requests: { cpu: "1" } } }] },
    }),
    post("binds it without a node", `${pod}/binding`, {
      apiVersion: "v1",
      kind: "Binding",
      metadata: { name: "p" },
      target: { kind: "Node", name: "" },
    }),
    post("binds it", `${pod}/binding`, {
      apiVersion: "v1",
      kind: "Binding",
      metadata: { name: "p" },
      target: { kind: "Node", name: "n1" },
    }),
    post("binds it again", `${pod}/binding`, {
      apiVersion: "v1",
      kind: "Binding",
      metadata: { name: "p" },
      target: { kind: "Node", name: "n2" },
    }),
    get("reads a bound pod", pod),
    patch("merge", "changes its node", pod, { spec: { nodeName: "n3" } }),
    patch("strategic", "changes its image", pod, { spec: { containers: [{ name: "c", image: "i:2" }] } }),
    patch("strategic", "changes its command", pod, { spec: { containers: [{ name: "c", command: ["x"] }] } }),
    patch("merge", "adds a toleration", pod, { spec: { tolerations: [{ key: "k", operator: "Exists" }] } }),
    patch("merge", "changes its deadline", pod, { spec: { activeDeadlineSeconds: 5 } }),
    patch("merge", "raises its deadline", pod, { spec: { activeDeadlineSeconds: 6 } }),
    remove("deletes it gracefully", pod, { gracePeriodSeconds: 20 }),
    remove("deletes it less gracefully", pod, { gracePeriodSeconds: 5 }),
    remove("deletes it more gracefully", pod, { gracePeriodSeconds: 50 }),
    table("reads a terminating pod as a table", pod),
    remove("deletes it at once", pod, { gracePeriodSeconds: 0 }),
    get("reads it when it is gone", pod),
    post("evicts one that is not there", `${pods}/absent/eviction`, {
      apiVersion: "policy/v1",
      kind: "Eviction",
      metadata: { name: "absent" },
    }),
    get("gets an eviction", `${pods}/absent/eviction`),
    get("asks for a subresource that there is not", `${pods}/absent/nothing`),
    post("posts a binding", "/api/v1/namespaces/{{ns}}/bindings", {
      apiVersion: "v1",
      kind: "Binding",
      metadata: { name: "absent" },
      target: { kind: "Node", name: "n1" },
    }),
    get("lists bindings", "/api/v1/namespaces/{{ns}}/bindings"),
    get("lists the statuses of components", "/api/v1/componentstatuses", {}, { view: kindOf }),
    post("asks for a bad certificate", "/apis/certificates.k8s.io/v1/certificatesigningrequests", {
      apiVersion: "certificates.k8s.io/v1",
      kind: "CertificateSigningRequest",
      metadata: { name: "diff-bad" },
      spec: { request: csr, signerName: "a", usages: [] },
    }),
    post("asks for a certificate", "/apis/certificates.k8s.io/v1/certificatesigningrequests", {
      apiVersion: "certificates.k8s.io/v1",
      kind: "CertificateSigningRequest",
      metadata: { name: "diff-good" },
      spec: { request: csr, signerName: "diff.io/signer", usages: ["client auth"] },
    }),
    table("reads the request as a table", "/apis/certificates.k8s.io/v1/certificatesigningrequests/diff-good"),
    get("reads the approval", "/apis/certificates.k8s.io/v1/certificatesigningrequests/diff-good/approval"),
    patch("merge", "changes the request", "/apis/certificates.k8s.io/v1/certificatesigningrequests/diff-good", {
      spec: { usages: ["server auth"] },
    }),
    remove("takes the request back", "/apis/certificates.k8s.io/v1/certificatesigningrequests/diff-good"),
    get(
      "lists tables of namespaces that are not there",
      "/api/v1/namespaces/nowhere/pods",
      {},
      { accept: tables, view: kindOf },
    ),
  ],
};

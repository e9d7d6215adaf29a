/** Objects that the rows speak of. */

export const configMap = (name: string, data: Record<string, string>, labels?: Record<string, string>) => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name, ...(labels && { labels }) },
  data,
});

export const rate = (name: string, spec: object) => ({
  apiVersion: "rates.example.com/v1",
  kind: "ExchangeRate",
  metadata: { name },
  spec,
});

export const deployment = (name: string, replicas: number, image = "app:1") => ({
  apiVersion: "apps/v1",
  kind: "Deployment",
  metadata: { name, labels: { app: name } },
  spec: {
    replicas,
    selector: { matchLabels: { app: name } },
    template: {
      metadata: { labels: { app: name } },
      spec: { terminationGracePeriodSeconds: 1, containers: [{ name: "c", image }] },
    },
  },
});

export const pod = (name: string, container: object) => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name, labels: { app: name } },
  spec: { terminationGracePeriodSeconds: 1, containers: [{ name: "c", image: "program", ...container }] },
});

export const role = (name: string) => ({
  apiVersion: "rbac.authorization.k8s.io/v1",
  kind: "ClusterRole",
  metadata: { name },
  rules: [{ apiGroups: [""], resources: ["pods"], verbs: ["get"] }],
});

export const definition = {
  apiVersion: "apiextensions.k8s.io/v1",
  kind: "CustomResourceDefinition",
  metadata: { name: "exchangerates.rates.example.com" },
  spec: {
    group: "rates.example.com",
    scope: "Namespaced",
    names: {
      kind: "ExchangeRate",
      listKind: "ExchangeRateList",
      plural: "exchangerates",
      singular: "exchangerate",
      shortNames: ["xr"],
      categories: ["all"],
    },
    versions: [
      {
        name: "v1",
        served: true,
        storage: true,
        subresources: {
          status: {},
          scale: { specReplicasPath: ".spec.replicas", statusReplicasPath: ".status.replicas" },
        },
        additionalPrinterColumns: [
          { name: "Currency", type: "string", jsonPath: ".spec.currency" },
          { name: "Note", type: "string", jsonPath: ".spec.note", priority: 1 },
        ],
        schema: {
          openAPIV3Schema: {
            type: "object",
            required: ["spec"],
            properties: {
              spec: {
                type: "object",
                required: ["currency"],
                properties: {
                  currency: { type: "string", pattern: "^[A-Z]{3}$", description: "ISO 4217 code" },
                  note: { type: "string" },
                  replicas: { type: "integer" },
                },
              },
              status: {
                type: "object",
                properties: { rate: { type: "number" }, replicas: { type: "integer" } },
              },
            },
          },
        },
      },
    ],
  },
};

/** Serves its path, tells what it hears, and ends when asked to. */
export const program = (port: number) => `
require("node:http").createServer((request, response) => response.end("you asked for " + request.url))
  .listen(${port}, "127.0.0.1", () => console.log("listening"));
console.log("one\\ntwo\\nthree");
process.stdin.on("data", (data) => console.log("heard " + data));
process.on("SIGTERM", () => process.exit(0));
`;

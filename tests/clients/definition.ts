/** The kind that the programs in other languages work with. */
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
        schema: {
          openAPIV3Schema: {
            type: "object",
            properties: {
              spec: {
                type: "object",
                required: ["currency"],
                properties: { currency: { type: "string", pattern: "^[A-Z]{3}$" }, replicas: { type: "integer" } },
              },
              status: {
                type: "object",
                "x-kubernetes-preserve-unknown-fields": true,
                properties: { rate: { type: "number" } },
              },
            },
          },
        },
      },
    ],
  },
};

// The kind that servers keep and operators handle in every comparison.
export const group = "bench.example.com";

export const widgetsIn = (namespace) => `/apis/${group}/v1/namespaces/${namespace}/widgets`;

/** Its definition, with the schemas of the two parts. */
export const widgetCrd = (spec, status) => ({
  apiVersion: "apiextensions.k8s.io/v1",
  kind: "CustomResourceDefinition",
  metadata: { name: `widgets.${group}` },
  spec: {
    group,
    names: { kind: "Widget", listKind: "WidgetList", plural: "widgets", singular: "widget" },
    scope: "Namespaced",
    versions: [
      {
        name: "v1",
        served: true,
        storage: true,
        schema: { openAPIV3Schema: { type: "object", properties: { spec, status } } },
        subresources: { status: {} },
      },
    ],
  },
});

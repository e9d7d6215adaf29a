import { describe, expectTypeOf, it } from "vitest";
import type { corev1, KubeBody } from "../kinds/index.ts";
import { ConfigMap, Pod } from "./builtin.ts";
import type { Client } from "./client.ts";
import { defineKind } from "./define-kind.ts";
import type { KindClass, KubeObject } from "./object.ts";

type WidgetBody = KubeBody & { spec: { size: number }; status?: { ready?: boolean } };

describe("the types", () => {
  it("know the body of a built-in kind", () => {
    expectTypeOf<Pod["spec"]>().toEqualTypeOf<corev1.PodSpec | undefined>();
    expectTypeOf<Pod["status"]>().toEqualTypeOf<corev1.PodStatus | undefined>();
    expectTypeOf<KubeObject["spec"]>().toBeUnknown();
  });

  it("take a class of a known kind wherever some class or some object is asked for", () => {
    const Widget = defineKind<WidgetBody>({ group: "example.com", version: "v1", kind: "Widget" });
    expectTypeOf(Pod).toExtend<KindClass>();
    expectTypeOf(ConfigMap).toExtend<KindClass>();
    expectTypeOf(Widget).toExtend<KindClass>();
    expectTypeOf<Pod>().toExtend<KubeObject>();
  });

  it("give back the class that was asked for", () => {
    const Widget = defineKind<WidgetBody>({ group: "example.com", version: "v1", kind: "Widget" });
    const call = (client: Client) => ({
      pod: client.get(Pod, "web"),
      any: client.get("pods", "web"),
      widget: client.get(Widget, "first"),
      pods: client.list(Pod).toArray(),
      resolved: client.resolve(Pod),
    });
    type Calls = ReturnType<typeof call>;
    expectTypeOf<Calls["pod"]>().resolves.toEqualTypeOf<Pod>();
    expectTypeOf<Calls["any"]>().resolves.toEqualTypeOf<KubeObject>();
    expectTypeOf<Awaited<Calls["widget"]>["spec"]["size"]>().toBeNumber();
    expectTypeOf<Calls["pods"]>().resolves.toEqualTypeOf<Pod[]>();
  });

  it("refuse what the kind does not have", () => {
    // @ts-expect-error: a pod needs an image
    const withoutImage = () => Pod.gen({ name: "web" });
    // @ts-expect-error: labels are texts
    const number = (pod: Pod) => pod.label({ a: 1 });
    // @ts-expect-error: there is no such field
    const unknownField = (pod: Pod) => pod.patch({ spec: { nodeNam: "a" } });
    const removal = (pod: Pod) => pod.patch({ spec: { nodeName: null } });
    expectTypeOf(withoutImage).toBeFunction();
    expectTypeOf(number).toBeFunction();
    expectTypeOf(unknownField).toBeFunction();
    expectTypeOf(removal).toBeFunction();
  });
});

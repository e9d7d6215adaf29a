import { describe, expectTypeOf, it } from "vitest";
import { ClusterRole, ConfigMap, CronJob, Deployment, Pod, Role } from "../builtin/index.ts";
import type { Client } from "../client/index.ts";
import type { corev1, KubeBody } from "../kinds/index.ts";
import type { DeepReadonly } from "../meta/index.ts";
import type { LogEntry, WorkloadLogEntry } from "../pods/index.ts";
import { defineKind } from "./define-kind.ts";
import type { KindClass, KubeObject } from "./object.ts";
import { anyOf, noneOf } from "./wait-condition.ts";

type WidgetBody = KubeBody & { spec: { size: number }; status?: { ready?: boolean } };

describe("the types", () => {
  it("know the body of a built-in kind", () => {
    expectTypeOf<Pod["spec"]>().toEqualTypeOf<corev1.PodSpec>();
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

  it("know of a log whether its lines come with their times", () => {
    const read = (pod: Pod, web: Deployment) => ({
      lines: pod.logs().toArray(),
      stamped: pod.logs({ timestamps: true }).toArray(),
      entries: pod.logs({ timestamps: "parse" }).toArray(),
      all: web.logs({ timestamps: "parse", follow: true }).toArray(),
    });
    type Logs = ReturnType<typeof read>;
    expectTypeOf<Logs["lines"]>().resolves.toEqualTypeOf<string[]>();
    expectTypeOf<Logs["stamped"]>().resolves.toEqualTypeOf<string[]>();
    expectTypeOf<Logs["entries"]>().resolves.toEqualTypeOf<LogEntry[]>();
    expectTypeOf<Logs["all"]>().resolves.toEqualTypeOf<WorkloadLogEntry[]>();
  });

  it("refuse what the kind does not have", () => {
    // @ts-expect-error: a pod needs an image
    const withoutImage = () => Pod.gen({ name: "web" });
    // @ts-expect-error: labels are texts
    const number = (pod: Pod) => pod.label({ a: 1 });
    // @ts-expect-error: there is no such field
    const unknownField = (pod: Pod) => pod.patch({ spec: { nodeNam: "a" } });
    const write = (pod: Pod) => {
      // @ts-expect-error: labels are changed by label()
      pod.labels.app = "web";
    };
    const removal = (pod: Pod) => pod.patch({ spec: { nodeName: null } });
    expectTypeOf(withoutImage).toBeFunction();
    expectTypeOf(number).toBeFunction();
    expectTypeOf(unknownField).toBeFunction();
    expectTypeOf(write).toBeFunction();
    expectTypeOf(removal).toBeFunction();
  });
});

describe("the types of a patch", () => {
  it("are those of the kind: a wrong field or value does not compile, and null removes", () => {
    const right = (client: Client, web: Deployment, read: DeepReadonly<corev1.Container[]>) => [
      client.patch(Deployment, "web", { spec: { replicas: 3, paused: null }, metadata: { labels: { tier: null } } }),
      client.patch(Deployment, "web", { status: { replicas: 3 } }, { subresource: "status" }),
      client.patch(web, { spec: { template: { spec: { containers: read } } } }),
      web.patch({ spec: { replicas: 3 } }, { dryRun: true }),
    ];
    const wrong = async (client: Client, web: Deployment) => {
      // @ts-expect-error: it has replicas
      await client.patch(Deployment, "web", { spec: { replicaz: 3 } });
      // @ts-expect-error: which are a number
      await client.patch(Deployment, "web", { spec: { replicas: "3" } });
      // @ts-expect-error: lists are replaced as a whole, and a container needs a name
      await client.patch(Deployment, "web", { spec: { template: { spec: { containers: [{ image: "nginx" }] } } } });
      // @ts-expect-error: it has replicas
      await client.patch(web, { spec: { replicaz: 3 } });
      // @ts-expect-error: it has replicas, with options too
      await web.patch({ spec: { replicaz: 3 } }, { dryRun: true });
      // @ts-expect-error: the status has replicas
      await web.patchStatus({ replicaz: 3 });
    };
    expectTypeOf(right).toBeFunction();
    expectTypeOf(wrong).toBeFunction();
  });

  it("are their own for JSON patches, strategic merge patches and foreign forms", () => {
    const right = (client: Client, web: Deployment) => [
      client.patch(Deployment, "web", [{ op: "replace", path: "/spec/replicas", value: 3 }]),
      client.patch(Deployment, "web", [{ op: "remove", path: "/spec/paused" }], { type: "json" }),
      web.patch(
        { spec: { template: { spec: { containers: [{ name: "main", $patch: "delete" }] } } } },
        { type: "strategic" },
      ),
      client.patch(Deployment, "web", { spec: { replicas: 3 } }, { subresource: "scale" }),
    ];
    const wrong = async (client: Client, web: Deployment) => {
      // @ts-expect-error: there is no such operation
      await client.patch(Deployment, "web", [{ op: "change", path: "/spec/replicas", value: 3 }]);
      // @ts-expect-error: a JSON patch is a list of operations
      await client.patch(Deployment, "web", { spec: { replicas: 3 } }, { type: "json" });
      // @ts-expect-error: containers have an image
      await client.patch(web, { spec: { template: { spec: { containers: [{ imag: "a" }] } } } }, { type: "strategic" });
    };
    expectTypeOf(right).toBeFunction();
    expectTypeOf(wrong).toBeFunction();
  });

  it("are loose for kinds that are only named, and for any object", () => {
    const right = (client: Client, some: KubeObject) => [
      client.patch("widgets.example.com", "first", { spec: { whatever: 1 } }),
      client.patch(some, { data: { a: "b" } }),
      some.patch({ data: { a: "b" } }),
    ];
    expectTypeOf(right).returns.toExtend<Promise<KubeObject>[]>();
  });

  it("let the methods of an own class patch its objects", () => {
    class Widget extends defineKind<WidgetBody>({ group: "example.com", version: "v1", kind: "Widget" }) {
      grow() {
        return this.patch({ spec: { size: this.spec.size + 1 } });
      }
      shrink() {
        // @ts-expect-error: it has a size
        return this.patch({ spec: { sise: 1 } });
      }
    }
    expectTypeOf<Widget["grow"]>().returns.resolves.toEqualTypeOf<Widget>();
  });
});

describe("the types of objects", () => {
  it("know the fields of a kind, and that a spec is there", () => {
    const image = (pod: Pod) => pod.spec.containers[0]?.image;
    expectTypeOf(image).returns.toEqualTypeOf<string | undefined>();
    // @ts-expect-error: there is no such field
    const wrong = (pod: Pod) => pod.spec.container;
    expectTypeOf(wrong).toBeFunction();
  });

  it("have only the methods of their kind", () => {
    // @ts-expect-error: a ConfigMap has no replicas
    const scale = (map: ConfigMap) => map.scale(3);
    // @ts-expect-error: a Deployment is not evicted
    const evict = (deployment: Deployment) => deployment.evict();
    const fine = (deployment: Deployment) => deployment.scale(3);
    expectTypeOf(scale).toBeFunction();
    expectTypeOf(evict).toBeFunction();
    expectTypeOf(fine).returns.resolves.toEqualTypeOf<Deployment>();
  });

  it("are dynamic for kinds that are named by a text", () => {
    const calls = (client: Client) => ({
      list: client.list("pods").toArray(),
      get: client.get("deployment/web"),
      informer: client.informer("pods").list(),
      many: client.wait("pods", { labelSelector: "a=b" }, "condition=Ready"),
    });
    type Calls = ReturnType<typeof calls>;
    expectTypeOf<Calls["list"]>().resolves.toEqualTypeOf<KubeObject[]>();
    expectTypeOf<Calls["get"]>().resolves.toEqualTypeOf<KubeObject>();
    expectTypeOf<Calls["informer"]>().toEqualTypeOf<KubeObject[]>();
    expectTypeOf<Calls["many"]>().resolves.toEqualTypeOf<KubeObject[]>();
  });

  it("come from the class that is asked", () => {
    class Widget extends defineKind<WidgetBody>({ group: "example.com", version: "v1", kind: "Widget", scale: {} }) {
      get double() {
        return this.spec.size * 2;
      }
    }
    const calls = (client: Client) => ({
      get: Widget.get("w"),
      list: Pod.list().first(),
      ref: Widget.ref("w").double,
      gen: Widget.gen({ name: "w", spec: { size: 1 } }),
      scaled: Widget.ref("w").scale(2),
      informer: client.informer(Widget, { indexes: { double: ({ double }) => String(double) } }).get("w"),
      many: client.wait(
        Pod,
        { labelSelector: "a=b" },
        anyOf("delete", ({ spec }) => spec.hostNetwork === true),
      ),
      waited: Pod.ref("w").wait(noneOf((pod) => pod.spec.nodeName === "n")),
    });
    type Calls = ReturnType<typeof calls>;
    expectTypeOf<Calls["get"]>().resolves.toEqualTypeOf<Widget>();
    expectTypeOf<Calls["list"]>().resolves.toEqualTypeOf<Pod | undefined>();
    expectTypeOf<Calls["ref"]>().toBeNumber();
    expectTypeOf<Calls["gen"]>().toEqualTypeOf<Widget>();
    expectTypeOf<Calls["scaled"]>().resolves.toEqualTypeOf<Widget>();
    expectTypeOf<Calls["informer"]>().toEqualTypeOf<Widget | undefined>();
    expectTypeOf<Calls["many"]>().resolves.toEqualTypeOf<Pod[]>();
    expectTypeOf<Calls["waited"]>().resolves.toEqualTypeOf<Pod>();
  });

  it("refuse to make what the server would refuse", () => {
    // @ts-expect-error: a Deployment needs an image
    const deployment = () => Deployment.gen({ name: "web" });
    // @ts-expect-error: a CronJob needs a schedule
    const cron = () => CronJob.gen({ name: "c", image: "a" });
    // @ts-expect-error: a Role needs rules
    const role = () => Role.gen({ name: "r" });
    // @ts-expect-error: a ClusterRole has no namespace
    const wide = () => ClusterRole.gen({ name: "r", namespace: "n", rules: [] });
    for (const wrong of [deployment, cron, role, wide]) expectTypeOf(wrong).toBeFunction();
  });

  it("let a function change a body in place", () => {
    const change = (map: ConfigMap) =>
      map.update((body) => {
        expectTypeOf(body).toEqualTypeOf<corev1.ConfigMap>();
        body.data = {};
      });
    expectTypeOf(change).returns.resolves.toEqualTypeOf<ConfigMap>();
  });
});

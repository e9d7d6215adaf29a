import {
  type appsv1,
  ConfigMap,
  describeKind,
  type KubeBody,
  KubeObject,
  Namespace,
  type ObjectBody,
} from "@lotse/client";
import { ConfigError } from "@lotse/client/meta";
import { describe, expect, expectTypeOf, it } from "vitest";
import { deepFreeze } from "../declare/index.ts";
import {
  adjustNamespace,
  adopt,
  appendOwnerReference,
  buildOwnerReference,
  type Children,
  disown,
  harmonizeNaming,
  label,
  type Owner,
  removeOwnerReference,
} from "./hierarchies.ts";

const kind = describeKind({ group: "example.com", version: "v1", kind: "Thing" });
const owner: Owner = deepFreeze({
  kind,
  body: { metadata: { name: "parent", namespace: "team-a", uid: "u1", labels: { app: "shop", tier: "web" } } },
});
const clusterOwner: Owner = {
  kind: { ...kind, namespaced: false },
  body: { metadata: { name: "parent", uid: "u1" } },
};
const reference = {
  apiVersion: "example.com/v1",
  kind: "Thing",
  name: "parent",
  uid: "u1",
  controller: true,
  blockOwnerDeletion: true,
};
const stranger = { apiVersion: "v1", kind: "Pod", name: "other", uid: "u9" };

function manifest(metadata: KubeBody["metadata"] = {}, more: Partial<KubeBody> = {}): KubeBody {
  return { apiVersion: "v1", kind: "ConfigMap", metadata, ...more };
}

describe("what can be a child", () => {
  it("is a manifest, changed in place", () => {
    const child: KubeBody = { apiVersion: "v1", kind: "ConfigMap" };
    expect(adjustNamespace(child, { namespace: "x" })).toBe(child);
    expect(child.metadata).toEqual({ namespace: "x" });
  });

  it("is a client object", () => {
    const child = ConfigMap.gen({ name: "settings", data: { a: "b" } });
    expect(adopt(child, { owner })).toBe(child);
    expect(child.body).toMatchObject({
      metadata: { name: "settings", namespace: "team-a", ownerReferences: [reference], labels: { app: "shop" } },
      data: { a: "b" },
    });
  });

  it("is a typed manifest of a built-in kind", () => {
    const child: appsv1.Deployment = {
      apiVersion: "apps/v1",
      kind: "Deployment",
      metadata: {},
      spec: { selector: {}, template: { spec: { containers: [] } } },
    };
    expectTypeOf(adopt(child, { owner })).toEqualTypeOf<appsv1.Deployment>();
    expect(child.metadata?.namespace).toBe("team-a");
  });

  it("is a list, a list of lists, or anything that can be walked over", () => {
    const [a, b, c, d] = [manifest(), manifest(), ConfigMap.gen({ name: "c" }), manifest()];
    const children = [a, [b, [c]], new Set([d])];
    expect(adjustNamespace(children, { namespace: "x" })).toBe(children);
    expect([a, b, c.body, d].map((child) => child.metadata?.namespace)).toEqual(["x", "x", "x", "x"]);
  });

  it.each([undefined, null, "pod", 3])("is not %s", (nonsense) => {
    const fails = () => label([nonsense as unknown as ObjectBody], { labels: {} });
    expect(fails).toThrow(ConfigError);
    expect(fails).toThrow(/is no object of Kubernetes/);
  });

  it("is not a manifest that may not be changed, and the error says what to do", () => {
    const frozen = deepFreeze(manifest()) as KubeBody;
    expect(() => adopt(frozen, { owner })).toThrow(/is read-only/);
    expect(() => adopt(new KubeObject(frozen), { owner })).not.toThrow();
    expect(frozen.metadata).toEqual({});
  });

  it("shares nothing with the owner or its siblings that changes with it", () => {
    const labels = Object.freeze({ own: "1" });
    const template = Object.freeze({ metadata: Object.freeze({ labels }) });
    const children = [1, 2].map(() => manifest({ labels: labels as Record<string, string> }, { spec: { template } }));
    adopt(children, { owner, nested: "spec.template" });
    expect(template).toEqual({ metadata: { labels: { own: "1" } } });
    expect(children[0]?.metadata?.labels).not.toBe(children[1]?.metadata?.labels);
    expect(owner.body.metadata?.labels).toEqual({ app: "shop", tier: "web" });
  });

  it("is changed together with the others or not at all", () => {
    const children = [manifest(), manifest({ namespace: "team-b" })];
    expect(() => adopt(children, { owner })).toThrow(ConfigError);
    expect(children).toEqual([manifest(), manifest({ namespace: "team-b" })]);
  });
});

describe("owner references", () => {
  it("are built from the owner's kind and metadata", () => {
    expect(buildOwnerReference(owner)).toEqual(reference);
    expect(buildOwnerReference(owner, { controller: false, blockOwnerDeletion: false })).toEqual({
      ...reference,
      controller: false,
      blockOwnerDeletion: false,
    });
  });

  it("are appended after those that are there", () => {
    const child = manifest({ ownerReferences: [stranger] });
    appendOwnerReference(child, { owner });
    expect(child.metadata?.ownerReferences).toEqual([stranger, reference]);
  });

  it("are appended once, by uid, and an entry that is there stays as it is", () => {
    const present = { ...reference, apiVersion: "example.com/v1beta1", controller: false };
    const child = manifest({ ownerReferences: [present, stranger] });
    appendOwnerReference([child, child], { owner });
    expect(child.metadata?.ownerReferences).toEqual([present, stranger]);
    appendOwnerReference(child, { owner, controller: true });
    expect(child.metadata?.ownerReferences).toEqual([{ ...present, controller: true }, stranger]);
  });

  it("carry the flags that are asked for", () => {
    const child = manifest();
    appendOwnerReference(child, { owner, controller: false, blockOwnerDeletion: false });
    expect(child.metadata?.ownerReferences).toEqual([{ ...reference, controller: false, blockOwnerDeletion: false }]);
  });

  it("name at most one controller: another one keeps its place, and who insists is told", () => {
    const rival = { ...stranger, controller: true };
    const child = manifest({ name: "settings", ownerReferences: [rival] });
    expect(() => appendOwnerReference(child, { owner, controller: true })).toThrow(
      "ConfigMap settings is controlled by Pod other already",
    );
    appendOwnerReference(child, { owner });
    expect(child.metadata?.ownerReferences).toEqual([rival, { ...reference, controller: false }]);
    expect(() => appendOwnerReference(child, { owner, controller: true })).toThrow(/controlled by/);
  });

  it("are removed by uid, whatever else they say", () => {
    const child = manifest({ ownerReferences: [stranger, { ...reference, name: "renamed" }] });
    removeOwnerReference([child], { owner });
    expect(child.metadata?.ownerReferences).toEqual([stranger]);
    removeOwnerReference(child, { owner: { kind, body: { metadata: { uid: "u9" } } } });
    expect(child.metadata?.ownerReferences).toEqual([]);
    const without = manifest();
    removeOwnerReference(without, { owner });
    expect(without).toEqual(manifest());
  });

  it.each([
    ["adopt", (o: Owner) => adopt(manifest(), { owner: o })],
    ["appendOwnerReference", (o: Owner) => appendOwnerReference(manifest(), { owner: o })],
    ["removeOwnerReference", (o: Owner) => removeOwnerReference(manifest(), { owner: o })],
    ["disown", (o: Owner) => disown(manifest(), { owner: o })],
  ])("need an owner with a uid (%s)", (_, act) => {
    expect(() => act({ kind, body: { metadata: { name: "draft" } } })).toThrow(
      "Thing draft has no uid and cannot own anything",
    );
    expect(() => act({ kind, body: {} })).toThrow(/has no uid/);
  });

  it("do not cross namespaces", () => {
    const child = manifest({ name: "settings", namespace: "team-b" });
    expect(() => appendOwnerReference(child, { owner })).toThrow(
      "Thing team-a/parent cannot own ConfigMap team-b/settings: an owner must be in the same namespace",
    );
    expect(() => adopt(child, { owner })).toThrow(/same namespace/);
    adopt(child, { owner, forced: true });
    expect(child.metadata).toMatchObject({ namespace: "team-a", ownerReferences: [reference] });
  });

  it.each<[string, Children]>([
    ["a client object", new Namespace({ metadata: { name: "fresh" } })],
    ["a built-in kind", { apiVersion: "v1", kind: "Namespace", metadata: { name: "fresh" } }],
    ["a built-in kind in any version", { apiVersion: "rbac.authorization.k8s.io/v1beta1", kind: "ClusterRole" }],
    ["a kind that the caller knows", { apiVersion: "example.com/v1", kind: "Planet" }],
  ])("do not lead from a namespaced owner to a cluster-scoped child: %s", (_, child) => {
    const isNamespaced = (apiVersion: string, name: string) =>
      apiVersion === "example.com/v1" && name === "Planet" ? false : undefined;
    expect(() => appendOwnerReference(child, { owner, isNamespaced })).toThrow(/cannot own the cluster-wide/);
    expect(() => adopt(child, { owner, isNamespaced })).toThrow(/cannot own the cluster-wide/);
    expect(() => adopt(child, { owner: clusterOwner, isNamespaced })).not.toThrow();
  });

  it("lead from a cluster-scoped owner to any child", () => {
    const children = [manifest({ namespace: "team-b" }), { apiVersion: "v1", kind: "Namespace" }];
    adopt(children, { owner: clusterOwner });
    expect(children.map((child) => child.metadata)).toEqual([
      { namespace: "team-b", generateName: "parent-", ownerReferences: [reference] },
      { generateName: "parent-", ownerReferences: [reference] },
    ]);
  });

  it("do not lead an object to itself", () => {
    expect(() => appendOwnerReference(manifest({ uid: "u1" }), { owner })).toThrow(/cannot own itself/);
  });
});

describe("labels", () => {
  it("are the owner's by default, also when null or undefined is passed", () => {
    for (const labels of [undefined, null]) {
      const child = manifest();
      label(child, { owner, labels });
      expect(child.metadata?.labels).toEqual({ app: "shop", tier: "web" });
    }
  });

  it("are those given, without the owner's", () => {
    const child = manifest();
    label(child, { owner, labels: { a: "b" } });
    expect(child.metadata?.labels).toEqual({ a: "b" });
  });

  it("that are there stay, unless forced", () => {
    const child = manifest({ labels: { app: "own", x: "y" } });
    label(child, { owner });
    expect(child.metadata?.labels).toEqual({ app: "own", tier: "web", x: "y" });
    label(child, { owner, forced: true });
    expect(child.metadata?.labels).toEqual({ app: "shop", tier: "web", x: "y" });
  });

  it("that are none change nothing", () => {
    const child = manifest();
    label(child, { owner: clusterOwner });
    expect(child).toEqual(manifest());
  });

  it("must come from somewhere", () => {
    expect(() => label(manifest({ name: "settings" }), {})).toThrow("there are no labels to put on ConfigMap settings");
  });

  it.each([["spec.template"], [["spec.template"]], [[["spec", "template"]]]])(
    "go into nested templates too: %j",
    (nested) => {
      const child = manifest(
        {},
        { spec: { replicas: 3, template: { metadata: { labels: { app: "own" } }, spec: {} } } },
      );
      label(child, { owner, nested });
      expect(child.metadata?.labels).toEqual({ app: "shop", tier: "web" });
      expect(child.spec).toEqual({
        replicas: 3,
        template: { metadata: { labels: { app: "own", tier: "web" } }, spec: {} },
      });
      label(child, { owner, nested, forced: true });
      expect(child.spec).toMatchObject({ template: { metadata: { labels: { app: "shop" } } } });
    },
  );

  it("go into a CronJob's job template and the pod template in it", () => {
    const child = manifest({}, { spec: { jobTemplate: { spec: { template: { spec: {} } } } } });
    label(child, { labels: { a: "b" }, nested: ["spec.jobTemplate", "spec.jobTemplate.spec.template"] });
    const metadata = { labels: { a: "b" } };
    expect(child.spec).toEqual({ jobTemplate: { metadata, spec: { template: { metadata, spec: {} } } } });
  });

  it("go into each of a list of templates", () => {
    const child = manifest({}, { spec: { volumeClaimTemplates: [{ metadata: { name: "a" } }, {}] } });
    label(child, { labels: { a: "b" }, nested: "spec.volumeClaimTemplates" });
    expect(child.spec).toEqual({
      volumeClaimTemplates: [{ metadata: { name: "a", labels: { a: "b" } } }, { metadata: { labels: { a: "b" } } }],
    });
  });

  it("skip nested paths that do not exist", () => {
    const child = manifest({}, { spec: { template: null } });
    label(child, { labels: { a: "b" }, nested: ["spec.template", "spec.jobTemplate.spec.template", "nothing"] });
    expect(child).toEqual(manifest({ labels: { a: "b" } }, { spec: { template: null } }));
  });

  it("refuse a nested path that leads to something else", () => {
    const child = manifest({ name: "web" }, { spec: { replicas: 3 } });
    expect(() => label(child, { labels: { a: "b" }, nested: "spec.replicas" })).toThrow(
      "spec.replicas of ConfigMap web is not an object with metadata",
    );
    expect(child.metadata).toEqual({ name: "web" });
  });
});

describe("names", () => {
  const given = { name: "given" };
  it.each([
    ["nothing", {}, {}, { generateName: "parent-" }],
    ["nothing, strictly", {}, { strict: true }, { name: "parent" }],
    ["a name", { name: "own" }, {}, { name: "own" }],
    ["a name, strictly", { name: "own" }, { strict: true }, { name: "own" }],
    ["a name, by force", { name: "own" }, { forced: true }, { generateName: "parent-" }],
    ["a name, by force and strictly", { name: "own" }, { forced: true, strict: true }, { name: "parent" }],
    ["generateName", { generateName: "own-" }, {}, { generateName: "own-" }],
    ["generateName, strictly", { generateName: "own-" }, { strict: true }, { generateName: "own-" }],
    ["generateName, by force", { generateName: "own-" }, { forced: true }, { generateName: "parent-" }],
    [
      "generateName, by force and strictly",
      { generateName: "own-" },
      { forced: true, strict: true },
      { name: "parent" },
    ],
    ["an empty name", { name: "" }, {}, { generateName: "parent-" }],
    ["nothing, with a name given", {}, given, { generateName: "given-" }],
    ["nothing, with a name given strictly", {}, { ...given, strict: true }, { name: "given" }],
    ["nothing, with null for the owner's", {}, { name: null }, { generateName: "parent-" }],
  ])("for a child that has %s", (_, metadata, options, expected) => {
    const child = manifest({ ...metadata, labels: { a: "b" } });
    harmonizeNaming([child], { owner, ...options });
    expect(child.metadata).toEqual({ ...expected, labels: { a: "b" } });
  });

  it("must come from somewhere, but only where one is needed", () => {
    expect(() => harmonizeNaming(manifest(), {})).toThrow("there is no name to give to ConfigMap without a name");
    expect(() => harmonizeNaming(manifest(), { owner: { kind, body: {} } })).toThrow(/no name to give/);
    expect(() => harmonizeNaming(manifest({ name: "own" }), {})).not.toThrow();
  });
});

describe("namespaces", () => {
  it.each([
    ["none", {}, {}, "team-a"],
    ["one", { namespace: "own" }, {}, "own"],
    ["one, by force", { namespace: "own" }, { forced: true }, "team-a"],
    ["none, with one given", {}, { namespace: "given" }, "given"],
    ["one, with one given", { namespace: "own" }, { namespace: "given" }, "own"],
    ["one, with one given by force", { namespace: "own" }, { namespace: "given", forced: true }, "given"],
    ["none, with null for the owner's", {}, { namespace: null }, "team-a"],
  ])("for a child that has %s", (_, metadata, options, expected) => {
    const child = manifest(metadata);
    adjustNamespace(child, { owner, ...options });
    expect(child.metadata?.namespace).toBe(expected);
  });

  it("of a cluster-scoped owner are none, and the child keeps its own, by force too", () => {
    const children = [manifest(), manifest({ namespace: "own" })];
    adjustNamespace(children, { owner: clusterOwner, forced: true });
    expect(children).toEqual([manifest(), manifest({ namespace: "own" })]);
  });

  it("are not given to cluster-scoped children", () => {
    const child = { apiVersion: "v1", kind: "Namespace", metadata: { name: "fresh" } };
    adjustNamespace(child, { owner, forced: true });
    expect(child.metadata).toEqual({ name: "fresh" });
  });
});

describe("adopting", () => {
  it("sets owner reference, name, namespace and labels at once", () => {
    const child: KubeBody = { apiVersion: "v1", kind: "ConfigMap" };
    adopt(child, { owner });
    expect(child).toEqual(
      manifest({
        generateName: "parent-",
        namespace: "team-a",
        ownerReferences: [reference],
        labels: { app: "shop", tier: "web" },
      }),
    );
  });

  it("keeps what is there, and overwrites all but the owners by force", () => {
    const metadata = { name: "own", namespace: "team-a", labels: { app: "own" }, ownerReferences: [stranger] };
    const kept = manifest({ ...metadata });
    adopt(kept, { owner });
    expect(kept.metadata).toEqual({
      ...metadata,
      labels: { app: "own", tier: "web" },
      ownerReferences: [stranger, reference],
    });
    const forced = manifest({ ...metadata });
    adopt(forced, { owner, forced: true, strict: true });
    expect(forced.metadata).toEqual({
      name: "parent",
      namespace: "team-a",
      labels: { app: "shop", tier: "web" },
      ownerReferences: [stranger, reference],
    });
  });

  it("labels nested templates, and nothing else of them", () => {
    const child = manifest({}, { spec: { template: { spec: {} } } });
    adopt(child, { owner, nested: ["spec.template"] });
    expect(child.spec).toEqual({
      template: { metadata: { labels: { app: "shop", tier: "web" } }, spec: {} },
    });
  });

  it("twice is the same as once", () => {
    const [once, twice] = [manifest(), manifest()];
    adopt(once, { owner });
    adopt([twice], { owner });
    adopt(twice, { owner });
    expect(twice).toEqual(once);
  });
});

describe("disowning", () => {
  it("takes the owner off and leaves name, namespace and labels", () => {
    const child = manifest({ name: "own", ownerReferences: [stranger] });
    adopt(child, { owner });
    expect(disown(child, { owner })).toBe(child);
    expect(child.metadata).toEqual({
      name: "own",
      namespace: "team-a",
      labels: { app: "shop", tier: "web" },
      ownerReferences: [stranger],
    });
  });

  it("takes off the owner's labels when asked, those with other values excepted, in nested templates too", () => {
    const child = manifest(
      { labels: { app: "own", tier: "web", x: "y" } },
      { spec: { template: { metadata: { labels: { app: "shop" } } } } },
    );
    disown([child], { owner, labels: true, nested: "spec.template" });
    expect(child.metadata?.labels).toEqual({ app: "own", x: "y" });
    expect(child.spec).toEqual({ template: { metadata: { labels: {} } } });
  });
});

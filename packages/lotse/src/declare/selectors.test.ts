import { describeKind, type KindDescription, KubeObject, Pod } from "@lotse/client";
import { describe, expect, it } from "vitest";
import { DeclarationError } from "./errors.ts";
import {
  describeSelector,
  everything,
  parseSelector,
  type ResourceSelector,
  type Selection,
  type SelectorInput,
  selectKinds,
} from "./selectors.ts";

type Sketch = Parameters<typeof describeKind>[0];

const kind = (group: string, version: string, name: string, more: Partial<KindDescription> = {}) =>
  describeKind({ group, version, kind: name, ...more } satisfies Sketch);

const CLUSTER: readonly KindDescription[] = [
  kind("", "v1", "Binding", { verbs: ["create"] }),
  kind("", "v1", "Event", { shortNames: ["ev"] }),
  kind("", "v1", "Node", { namespaced: false, shortNames: ["no"] }),
  kind("", "v1", "Pod", { shortNames: ["po"], categories: ["all"] }),
  kind("", "v1", "Pod", { plural: "pods/status" }),
  kind("apps", "v1", "Deployment", { shortNames: ["deploy"], categories: ["all"] }),
  kind("apps", "v1beta2", "Deployment", { shortNames: ["deploy"], categories: ["all"] }),
  kind("autoscaling", "v2", "HorizontalPodAutoscaler", { shortNames: ["hpa"], categories: ["all"] }),
  kind("autoscaling", "v1", "HorizontalPodAutoscaler", { shortNames: ["hpa"], categories: ["all"] }),
  kind("events.k8s.io", "v1", "Event", { shortNames: ["ev"] }),
  kind("metrics.k8s.io", "v1beta1", "PodMetrics", { plural: "pods", singular: "pod", verbs: ["get", "list"] }),
  kind("a.example.com", "v1", "Thing", { shortNames: ["th", "gadget"], categories: ["things"] }),
  kind("b.example.com", "v2", "Thing", { shortNames: ["th"], categories: ["things"] }),
  kind("b.example.com", "v1", "Thing", { shortNames: ["th"], categories: ["things"] }),
  kind("b.example.com", "v1", "Legacy", { plural: "legacies" }),
  kind("c.example.com", "v1alpha1", "Gadget"),
  kind("c.example.com", "v1alpha1", "Report", { verbs: ["get", "list", "watch"] }),
];

const label = ({ group, version, plural }: KindDescription) => `${group || "core"}/${version}/${plural}`;

function selected(input: SelectorInput, kinds = CLUSTER): Record<keyof Selection, unknown> {
  const { missing, ...lists } = selectKinds(parseSelector(input), kinds);
  return {
    missing,
    kinds: lists.kinds.map(label),
    ambiguous: lists.ambiguous.map(label),
    ignored: lists.ignored.map(label),
    unable: lists.unable.map(label),
  };
}

const served = (input: SelectorInput, kinds = CLUSTER) => selected(input, kinds).kinds;

describe("selecting one kind", () => {
  it.each<[string, string]>([
    ["pods", "core/v1/pods"],
    ["pod", "core/v1/pods"],
    ["po", "core/v1/pods"],
    ["Pod", "core/v1/pods"],
    [" PODS ", "core/v1/pods"],
    ["pods.v1", "core/v1/pods"],
    ["v1/pods", "core/v1/pods"],
    ["v1/Pod", "core/v1/pods"],
    ["deployments", "apps/v1/deployments"],
    ["deploy", "apps/v1/deployments"],
    ["deployments.apps", "apps/v1/deployments"],
    ["Deployment.apps", "apps/v1/deployments"],
    ["deployments.v1", "apps/v1/deployments"],
    ["deployments.v1beta2", "apps/v1beta2/deployments"],
    ["deployments.v1.apps", "apps/v1/deployments"],
    ["deployments.v1beta2.apps", "apps/v1beta2/deployments"],
    ["deployments.apps/v1beta2", "apps/v1beta2/deployments"],
    ["apps/v1/deployments", "apps/v1/deployments"],
    ["apps/v1beta2/deployments", "apps/v1beta2/deployments"],
    ["apps/deployments", "apps/v1/deployments"],
    ["hpa", "autoscaling/v2/horizontalpodautoscalers"],
    ["horizontalpodautoscalers.v1.autoscaling", "autoscaling/v1/horizontalpodautoscalers"],
    ["things.a.example.com", "a.example.com/v1/things"],
    ["th.b.example.com", "b.example.com/v2/things"],
    ["b.example.com/v1/things", "b.example.com/v1/things"],
    ["events", "core/v1/events"],
    ["events.events.k8s.io", "events.k8s.io/v1/events"],
  ])('understands "%s" as %s', (text, expected) => {
    expect(served(text)).toEqual([expected]);
  });

  it.each<[SelectorInput, string]>([
    [{ name: "po" }, "core/v1/pods"],
    [{ name: "Deployment", group: "apps" }, "apps/v1/deployments"],
    [{ kind: "Pod" }, "core/v1/pods"],
    [{ kind: "Deployment", version: "v1beta2" }, "apps/v1beta2/deployments"],
    [{ plural: "things", group: "b.example.com", version: "v1" }, "b.example.com/v1/things"],
    [{ singular: "pod" }, "core/v1/pods"],
    [{ shortName: "deploy" }, "apps/v1/deployments"],
    [{ plural: "events", group: "" }, "core/v1/events"],
  ])("understands %j as %s", (input, expected) => {
    expect(served(input)).toEqual([expected]);
  });

  it.each<[SelectorInput]>([
    [{ kind: "pods" }],
    [{ plural: "pod" }],
    [{ singular: "pods" }],
    [{ shortName: "pods" }],
    [{ name: "pods", group: "apps" }],
    [{ name: "deployments", version: "v9" }],
    ["v1/deployments"],
    ["deployments.v9.apps"],
    ["pods.apps"],
  ])("finds nothing for %j", (input) => {
    expect(selected(input)).toEqual({ missing: true, kinds: [], ambiguous: [], ignored: [], unable: [] });
  });

  it("takes a class for exactly its kind and version, as the server describes it", () => {
    const selection = selectKinds(parseSelector(Pod), CLUSTER);
    expect(selection.kinds).toEqual([CLUSTER[3]]);
    expect(selection.ignored).toEqual([]);
  });

  it("takes a description for exactly its kind and version, preferred or not", () => {
    expect(served(kind("apps", "v1beta2", "Deployment"))).toEqual(["apps/v1beta2/deployments"]);
    expect(selected(kind("apps", "v3", "Deployment")).missing).toBe(true);
  });

  it("starts to work when the kind appears", () => {
    expect(selected("widgets").missing).toBe(true);
    expect(served("widgets", [...CLUSTER, kind("x.example.com", "v1", "Widget")])).toEqual([
      "x.example.com/v1/widgets",
    ]);
  });
});

describe("the preferred version", () => {
  it("is the first that has the kind, even if the group prefers another version that lacks it", () => {
    expect(served("legacies")).toEqual(["b.example.com/v1/legacies"]);
  });

  it("decides alone which names count", () => {
    const renamed = [kind("x.io", "v2", "Widget"), kind("x.io", "v1", "Widget", { shortNames: ["old"] })];
    expect(selected("old", renamed).missing).toBe(true);
    expect(served("old.v1", renamed)).toEqual(["x.io/v1/widgets"]);
  });
});

describe("a name that several groups have", () => {
  it("means the core group, and the others are reported as ignored", () => {
    expect(selected("pods")).toMatchObject({ kinds: ["core/v1/pods"], ignored: ["metrics.k8s.io/v1beta1/pods"] });
    expect(selected("ev")).toMatchObject({ kinds: ["core/v1/events"], ignored: ["events.k8s.io/v1/events"] });
  });

  it("means the core group even where that cannot be watched", () => {
    const kinds = [...CLUSTER, kind("x.io", "v1", "Binding")];
    expect(selected("bindings", kinds)).toEqual({
      missing: false,
      kinds: [],
      ambiguous: [],
      ignored: ["x.io/v1/bindings"],
      unable: ["core/v1/bindings"],
    });
  });

  it("means none of them without the core group, and all are reported", () => {
    expect(selected("things")).toEqual({
      missing: false,
      kinds: [],
      ambiguous: ["a.example.com/v1/things", "b.example.com/v2/things"],
      ignored: [],
      unable: [],
    });
  });

  it.each<[SelectorInput]>([[{ kind: "Thing" }], [{ plural: "things" }], [{ shortName: "th" }], ["th"], ["things.v1"]])(
    "is ambiguous as %j too",
    (input) => {
      expect(selected(input)).toMatchObject({ kinds: [], ambiguous: { length: 2 } });
    },
  );

  it("means the one that has it as a full name, not as a short one", () => {
    expect(selected("gadget")).toMatchObject({
      kinds: ["c.example.com/v1alpha1/gadgets"],
      ignored: ["a.example.com/v1/things"],
      ambiguous: [],
    });
  });

  it("is not ambiguous when only one of them can be watched", () => {
    const kinds = [kind("x.io", "v1", "Box", { verbs: ["list"] }), kind("y.io", "v1", "Box")];
    expect(selected("boxes", kinds)).toMatchObject({ kinds: ["y.io/v1/boxes"], unable: ["x.io/v1/boxes"] });
  });
});

describe("selecting many kinds", () => {
  it("selects all kinds of a category in their preferred versions, whatever the group", () => {
    expect(served({ category: "all" })).toEqual([
      "core/v1/pods",
      "apps/v1/deployments",
      "autoscaling/v2/horizontalpodautoscalers",
    ]);
    expect(served({ category: "things" })).toEqual(["a.example.com/v1/things", "b.example.com/v2/things"]);
  });

  it("narrows a category to a group and a version", () => {
    expect(served({ category: "all", group: "apps" })).toEqual(["apps/v1/deployments"]);
    expect(served({ category: "ALL", group: "" })).toEqual(["core/v1/pods"]);
    expect(served({ category: "things", version: "v1" })).toEqual([
      "a.example.com/v1/things",
      "b.example.com/v1/things",
    ]);
  });

  it("selects everything but events, what cannot be watched, and subresources", () => {
    expect(selected(everything)).toEqual({
      missing: false,
      kinds: [
        "core/v1/nodes",
        "core/v1/pods",
        "apps/v1/deployments",
        "autoscaling/v2/horizontalpodautoscalers",
        "a.example.com/v1/things",
        "b.example.com/v2/things",
        "b.example.com/v1/legacies",
        "c.example.com/v1alpha1/gadgets",
        "c.example.com/v1alpha1/reports",
      ],
      ambiguous: [],
      ignored: [],
      unable: ["core/v1/bindings", "metrics.k8s.io/v1beta1/pods"],
    });
  });

  it("selects everything in a group, or in a version of it", () => {
    expect(served(everything.in({ group: "b.example.com" }))).toEqual([
      "b.example.com/v2/things",
      "b.example.com/v1/legacies",
    ]);
    expect(served(everything.in({ group: "b.example.com", version: "v1" }))).toEqual([
      "b.example.com/v1/things",
      "b.example.com/v1/legacies",
    ]);
    expect(selected(everything.in({ group: "events.k8s.io" })).missing).toBe(true);
  });

  it("shows a predicate all versions, but neither events nor subresources", () => {
    const asked: string[] = [];
    served((one) => {
      asked.push(label(one));
      return false;
    });
    expect(asked).toContain("apps/v1beta2/deployments");
    expect(asked.filter((one) => /events|\/status/.test(one))).toEqual([]);
    expect(asked).toHaveLength(CLUSTER.length - 3);
  });

  it("serves a version that only the predicate prefers", () => {
    expect(served(({ version }) => version === "v1beta2")).toEqual(["apps/v1beta2/deployments"]);
  });

  it("serves one version of each kind that a predicate accepts, so that no object comes twice", () => {
    expect(selected(({ group }) => group === "b.example.com")).toMatchObject({
      kinds: ["b.example.com/v2/things", "b.example.com/v1/legacies"],
      ignored: ["b.example.com/v1/things"],
    });
  });
});

describe("the verbs that are needed", () => {
  const verbs = (input: SelectorInput, needed: readonly string[]) =>
    selectKinds(parseSelector(input), CLUSTER, { verbs: needed });

  it("leave out a kind that cannot be patched, where handlers write", () => {
    expect(verbs("reports", ["list", "watch", "patch"])).toMatchObject({ kinds: [], unable: [{ kind: "Report" }] });
    expect(verbs("reports", ["list", "watch"])).toMatchObject({ kinds: [{ kind: "Report" }], unable: [] });
  });

  it("can be none, for kinds that are not watched", () => {
    expect(verbs("bindings", [])).toMatchObject({ kinds: [{ kind: "Binding" }], unable: [] });
  });
});

describe("wrong selectors", () => {
  const failure = (input: unknown): DeclarationError => {
    try {
      parseSelector(input as SelectorInput);
    } catch (error) {
      return error as DeclarationError;
    }
    throw new Error(`${JSON.stringify(input)} was taken`);
  };

  it.each<[string, unknown, RegExp, RegExp]>([
    ["an empty text", "", /empty text/, /"pods"/],
    ["a blank text", "  ", /empty text/, /"pods"/],
    ["a star", "*", /"\*" is not the name/, /everything/],
    ["a glob", "pods*", /"pods\*" is not the name/, /"pods"/],
    ["a list", "pods,services", /not the name/, /"pods"/],
    ["an apiVersion alone", "apps/v1", /without a kind/, /"apps\/v1\/<plural>"/],
    ["too many parts", "apps/v1/deployments/web", /too many parts/, /"apps\/v1\/deployments"/],
    ["a subresource", "pods/status", /subresource/, /write "pods"/],
    ["a subresource behind a full name", "apps/v1/deployments/scale", /subresource/, /write "apps\/v1\/deployments"/],
    ["an empty part", "apps//deployments", /empty part/, /"pods"/],
    ["a dot at the end", "pods.", /empty part/, /"pods"/],
    ["a slash at the beginning", "/v1/pods", /empty part/, /"v1\/pods"/],
    ["a bad group", "pods.-x", /not an API group/, /example\.com/],
    ["two names", { kind: "Pod", plural: "pods" }, /in 2 ways/, /kind, plural/],
    ["a name and a category", { name: "pods", category: "all" }, /in 2 ways/, /name, category/],
    ["no name", { group: "apps" }, /names no kind/, /everything\.in/],
    ["nothing", {}, /names no kind/, /everything\.in/],
    ["an empty name", { plural: "" }, /not a name/, /not empty/],
    ["a name that is no text", { plural: 7 }, /not a name/, /text/],
    ["an unknown key", { apiVersion: "v1", kind: "Pod" }, /no "apiVersion"/, /group and version/],
    ["an empty version", { kind: "Pod", version: "" }, /not an API version/, /leave it out/],
    ["a group that is no text", { kind: "Pod", group: 1 }, /neither a group/, /text/],
    ["everything in a bad group", everything.in({ group: "No Group" }), /not an API group/, /domain/],
    ["undefined", undefined, /undefined selects no kind/, /"pods"/],
    ["an array", ["pods"], /selects no kind/, /"pods"/],
    ["a class that is no kind", class Foreign {}, /the class Foreign describes no kind/, /resource/],
    ["the base class of objects", KubeObject, /describes no kind/, /resource/],
  ])("refuses %s and says what to write", (_, input, message, hint) => {
    const error = failure(input);
    expect(error).toBeInstanceOf(DeclarationError);
    expect(error.message).toMatch(message);
    expect(error.hint).toMatch(hint);
  });

  it("names the place of the declaration", () => {
    expect(failure("*").message).toMatch(/selectors\.test\.ts:\d+$/);
  });

  it("does not compile with two names, or with none", () => {
    // @ts-expect-error two names
    expect(() => parseSelector({ kind: "Pod", plural: "pods" })).toThrow(DeclarationError);
    // @ts-expect-error no name
    expect(() => parseSelector({ group: "apps" })).toThrow(DeclarationError);
  });

  it("refuses an async predicate, which would accept every kind", () => {
    const late = (async () => false) as unknown as () => boolean;
    expect(() => selected(late)).toThrow(/predicate late answered neither true nor false/);
  });

  it("tells which predicate failed for which kind", () => {
    function broken(): boolean {
      throw new Error("no idea");
    }
    expect(() => selected(broken)).toThrow(/predicate broken failed for v1\/bindings: Error: no idea/);
  });
});

describe("a selector in words", () => {
  function isMine(): boolean {
    return true;
  }

  it.each<[SelectorInput, string]>([
    ["Pods", "pods"],
    ["deployments.apps", "deployments.apps"],
    ["deployments.v1", "deployments.v1"],
    ["deployments.v1.apps", "apps/v1/deployments"],
    ["apps/v1/deployments", "apps/v1/deployments"],
    ["v1/pods", "v1/pods"],
    [Pod, "v1/pods"],
    [{ name: "pods", group: "" }, "pods in the core group"],
    [{ kind: "Pod" }, "kind pod"],
    [{ shortName: "po", version: "v1" }, "shortName po in version v1"],
    [{ category: "all", group: "apps", version: "v1" }, "category all in apps/v1"],
    [everything, "everything"],
    [everything.in({ group: "example.com" }), "everything in example.com"],
    [isMine, "predicate isMine"],
  ])("says %o as %s", (input, words) => {
    expect(describeSelector(parseSelector(input))).toBe(words);
  });

  it("calls a function without a name a predicate", () => {
    const selector: ResourceSelector = {
      type: "predicate",
      matches: (
        () => () =>
          true
      )(),
    };
    expect(describeSelector(selector)).toBe("a predicate");
  });
});

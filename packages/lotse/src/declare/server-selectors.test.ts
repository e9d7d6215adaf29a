import { describeKind, type KindDescription, Pod } from "@lotse/client";
import { formatLabelSelector } from "@lotse/client/meta";
import { describe, expect, it } from "vitest";
import { commonLabels } from "./common-labels.ts";
import { absent, type MapFilter, present } from "./filters.ts";
import type { Handler } from "./handler.ts";
import { everything } from "./selectors.ts";
import {
  describeSelection,
  idleSelectors,
  isSelected,
  planFieldSelectors,
  planLabelSelectors,
  selectionOf,
} from "./server-selectors.ts";
import { planSettings, type SettingsInput, settingsOf } from "./settings.ts";

const rack = describeKind({ group: "example.com", version: "v1", kind: "Rack" });
const inWords = (plan: Parameters<typeof selectionOf>[0], kind: KindDescription) => {
  const selection = selectionOf(plan, kind);
  return selection && describeSelection(selection);
};

describe("selectors for the server", () => {
  it("are all that name the kind, joined, without duplicates and always in the same order", () => {
    const plan = {
      labels: planLabelSelectors([
        ["racks.example.com", "site=a,row in (2,1)"],
        [everything, { site: "a" }],
        [Pod, "app=web"],
        [({ kind }) => kind === "Rack", "!spare"],
      ]),
      fields: planFieldSelectors({ racks: "metadata.name!=x", "v1/pods": { "spec.nodeName": "n1" } }),
    };
    expect(inWords(plan, rack)).toBe("row in (1,2),site=a,!spare,metadata.name!=x");
    expect(inWords(plan, Pod.description)).toBe("app=web,site=a,spec.nodeName=n1");
    expect(inWords({ labels: planLabelSelectors({ shelves: "site=a" }), fields: [] }, rack)).toBeUndefined();
  });

  it("that are for no kind are told, with their setting", () => {
    const plan = {
      labels: planLabelSelectors({ racks: "site=a", rakcs: "site=a" }),
      fields: planFieldSelectors({ "pods.v2": "a=b" }),
    };
    expect(idleSelectors(plan, [rack, Pod.description])).toEqual([
      { setting: "settings.watching.labelSelectors", resource: "rakcs" },
      { setting: "settings.watching.fieldSelectors", resource: "pods.v2" },
    ]);
  });

  it("can be asked of an object here", () => {
    const selection = selectionOf(
      { labels: planLabelSelectors({ racks: "site=a" }), fields: planFieldSelectors({ racks: "spec.height=3" }) },
      rack,
    );
    const body = (site: string, spec: object) => ({ metadata: { labels: { site } }, spec });
    const answers = [body("a", { height: 3 }), body("a", { height: 4 }), body("b", { height: 3 }), body("a", {})];
    expect(answers.map((one) => selection && isSelected(selection, one))).toEqual([true, false, false, false]);
  });

  it.each<[string, SettingsInput["watching"], RegExp]>([
    ["a selector that is none", { labelSelectors: { pods: "app in" } }, /settings\.watching\.labelSelectors: /],
    ["a kind that is none", { labelSelectors: { "pods/status": "a=b" } }, /labelSelectors: .*subresource/],
    ["a field without a value", { fieldSelectors: { pods: "spec.nodeName" } }, /settings\.watching\.fieldSelectors: /],
    ["another way to begin", { initialStreaming: "always" as "auto" }, /settings\.watching\.initialStreaming: /],
  ])("are refused by the name of the setting: %s", (_name, watching, message) => {
    expect(() => planSettings(settingsOf("op", watching ? { watching } : {}))).toThrow(message);
  });
});

describe("labels that follow from filters", () => {
  const index = (labels?: MapFilter) => ({ type: "index", filters: labels ? { labels } : {} }) as unknown as Handler;
  const common = (...handlers: Handler[]) => formatLabelSelector(commonLabels(handlers));

  it("are what all indexes of the kind ask for in words that a server understands", () => {
    expect(common(index({ app: "web", tier: present, canary: absent }))).toBe("app in (web),!canary,tier");
    expect(common(index({ app: "web", tier: /a/ }), index({ app: "web", tier: () => true }))).toBe("app in (web)");
    expect(common(index({ app: "web", tier: "a" }), index({ app: "web", tier: "b" }))).toBe("app in (web)");
  });

  it("are none where one of them looks at all objects, or nobody looks at any", () => {
    expect(common(index({ app: "web" }), index())).toBe("");
    expect(common(index({ app: "web" }), index({ app: "db" }))).toBe("");
    expect(common()).toBe("");
  });

  it("are none where no object can have such a label, because the server would refuse the question", () => {
    expect(common(index({ app: "a,b", "not a key": "x" }))).toBe("");
  });

  it.each(["change", "event", "timer", "daemon", "reconcile", "failure"])(
    "are none where there is a handler of the type %s: it must see an object that stops matching",
    (type) => {
      const other = { type, filters: { labels: { app: "web" } } } as unknown as Handler;
      expect(common(index({ app: "web" }), other)).toBe("");
      expect(common(other)).toBe("");
    },
  );
});

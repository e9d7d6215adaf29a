import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type Attempt, compactRules, describeRule, missingRights, type PolicyRule, ruleAllows } from "./rules.ts";

const attempt = (verb: string, resource: string, more: Partial<Attempt> = {}): Attempt =>
  ({ type: "resource", verb, group: "", resource, subresource: "", namespace: "", name: "", ...more }) as Attempt;
const path = (verb: string, wanted: string): Attempt => ({ type: "path", verb, path: wanted });

const rule = (verbs: string[], apiGroups: string[], resources: string[], resourceNames?: string[]): PolicyRule => ({
  verbs,
  apiGroups,
  resources,
  ...(resourceNames ? { resourceNames } : {}),
});

describe("a rule", () => {
  it("allows its verbs on its resources in its groups, and nothing else", () => {
    const pods = rule(["get", "list"], [""], ["pods"]);
    expect(ruleAllows(pods, attempt("get", "pods"))).toBe(true);
    expect(ruleAllows(pods, attempt("delete", "pods"))).toBe(false);
    expect(ruleAllows(pods, attempt("get", "secrets"))).toBe(false);
    expect(ruleAllows(pods, attempt("get", "pods", { group: "apps" }))).toBe(false);
    expect(ruleAllows(pods, path("get", "/version"))).toBe(false);
  });

  it("means a resource without its subresources, unless it names them or all", () => {
    const log = attempt("get", "pods", { subresource: "log" });
    expect(ruleAllows(rule(["get"], [""], ["pods"]), log)).toBe(false);
    expect(ruleAllows(rule(["get"], [""], ["pods/log"]), log)).toBe(true);
    expect(ruleAllows(rule(["get"], [""], ["*/log"]), log)).toBe(true);
    expect(ruleAllows(rule(["get"], [""], ["*/scale"]), log)).toBe(false);
    expect(ruleAllows(rule(["get"], [""], ["*"]), log)).toBe(true);
    expect(ruleAllows(rule(["get"], [""], ["*/log"]), attempt("get", "log"))).toBe(false);
  });

  it("with names allows nothing that has no name", () => {
    const one = rule(["*"], ["*"], ["configmaps"], ["a"]);
    expect(ruleAllows(one, attempt("update", "configmaps", { name: "a" }))).toBe(true);
    expect(ruleAllows(one, attempt("update", "configmaps", { name: "b" }))).toBe(false);
    expect(ruleAllows(one, attempt("list", "configmaps"))).toBe(false);
  });

  it("matches paths exactly or by what they begin with", () => {
    const paths: PolicyRule = { verbs: ["get"], nonResourceURLs: ["/version", "/healthz/*"] };
    expect(ruleAllows(paths, path("get", "/version"))).toBe(true);
    expect(ruleAllows(paths, path("get", "/version/"))).toBe(false);
    expect(ruleAllows(paths, path("get", "/healthz/etcd"))).toBe(true);
    expect(ruleAllows(paths, path("get", "/healthz"))).toBe(false);
    expect(ruleAllows(paths, path("post", "/version"))).toBe(false);
    expect(ruleAllows({ verbs: ["*"], nonResourceURLs: ["*"] }, path("put", "/anything"))).toBe(true);
  });
});

describe("missing rights", () => {
  it("are those that no single rule covers", () => {
    const owned = [rule(["get"], [""], ["pods"]), rule(["*"], ["apps"], ["*/scale"])];
    expect(missingRights(owned, [rule(["get"], [""], ["pods"])])).toEqual([]);
    expect(missingRights(owned, [rule(["get", "list"], [""], ["pods", "secrets"])])).toEqual([
      { apiGroups: [""], resources: ["pods"], verbs: ["list"] },
      { apiGroups: [""], resources: ["secrets"], verbs: ["get"] },
      { apiGroups: [""], resources: ["secrets"], verbs: ["list"] },
    ]);
    expect(missingRights(owned, [rule(["update"], ["apps"], ["deployments/scale"])])).toEqual([]);
    expect(missingRights(owned, [rule(["update"], ["apps"], ["deployments"])])).toHaveLength(1);
  });

  it("know that a right for some names is not one for all", () => {
    const one = rule(["get"], [""], ["pods"], ["a"]);
    expect(missingRights([one], [one])).toEqual([]);
    expect(missingRights([one], [rule(["get"], [""], ["pods"])])).toHaveLength(1);
    expect(missingRights([rule(["get"], [""], ["pods"])], [one])).toEqual([]);
  });

  it("are told in few words", () => {
    const wanted = [rule(["get", "list"], [""], ["pods"]), { verbs: ["get"], nonResourceURLs: ["/metrics"] }];
    const lines = compactRules(missingRights([], wanted)).map(describeRule);
    expect(lines).toEqual([
      '{NonResourceURLs:["/metrics"], Verbs:["get"]}',
      '{APIGroups:[""], Resources:["pods"], Verbs:["get" "list"]}',
    ]);
  });

  it("never include anything that the owner is allowed to do", () => {
    const list = (...from: string[]) => fc.uniqueArray(fc.constantFrom(...from), { minLength: 1, maxLength: 3 });
    const rules = fc.array(
      fc.record({
        verbs: list("get", "list", "update", "*"),
        apiGroups: list("", "apps", "*"),
        resources: list("pods", "pods/log", "*/log", "*"),
        resourceNames: fc.uniqueArray(fc.constantFrom("a", "b"), { maxLength: 2 }),
      }),
      { maxLength: 3 },
    );
    const attempts = fc.record({
      type: fc.constant("resource" as const),
      verb: fc.constantFrom("get", "list", "update"),
      group: fc.constantFrom("", "apps"),
      resource: fc.constant("pods"),
      subresource: fc.constantFrom("", "log"),
      namespace: fc.constant(""),
      name: fc.constantFrom("", "a", "b"),
    });
    fc.assert(
      fc.property(rules, rules, attempts, (owned, wanted, one) => {
        if (missingRights(owned, wanted).length > 0) return;
        // Who lacks nothing of what is given away cannot give away what it may not do itself.
        if (wanted.some((given) => ruleAllows(given, one))) {
          expect(owned.some((own) => ruleAllows(own, one))).toBe(true);
        }
      }),
    );
  });
});

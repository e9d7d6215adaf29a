import { describe, expect, it } from "vitest";
import type { RequestInfo } from "../api/index.ts";
import type { RequestUser } from "../registry/index.ts";
import { type Authorizer, PERMISSIVE } from "./authorizer.ts";
import { createImpersonator } from "./impersonate.ts";
import type { Attempt } from "./rules.ts";

const info: RequestInfo = {
  verb: "list",
  path: "/api/v1/namespaces/default/pods",
  segments: [],
  target: {
    group: "",
    version: "v1",
    resource: "pods",
    namespace: "default",
    name: undefined,
    subresource: undefined,
    rest: "",
  },
};

const ops: RequestUser = { username: "ops", groups: ["system:authenticated"] };

function act(headers: Record<string, string[]>, authorizer: Authorizer = PERMISSIVE, requester = ops): RequestUser {
  return createImpersonator(authorizer)({ headerValues: () => headers } as never, requester, info);
}

/** Permits what a function says, and keeps what was asked. */
function permitting(permits: (attempt: Attempt) => boolean) {
  const asked: string[] = [];
  const authorizer: Authorizer = {
    decide: (_user, attempt) => {
      const what =
        attempt.type === "path" ? attempt.path : `${attempt.resource}/${attempt.subresource}/${attempt.name}`;
      asked.push(`${attempt.verb} ${what}`);
      return { allowed: permits(attempt), reason: "" };
    },
    permissionsOf: () => ({ rules: [], errors: [] }),
  };
  return { asked, authorizer };
}

describe("impersonation", () => {
  it("does nothing without headers", () => {
    expect(act({ accept: ["*/*"] })).toBe(ops);
  });

  it("takes over name, uid, groups and extra information", () => {
    const user = act({
      "impersonate-user": ["jane"],
      "impersonate-uid": ["u-1"],
      "impersonate-group": ["developers, with a comma", "admins"],
      "impersonate-extra-acme.com%2fproject": ["a", "b"],
    });
    expect(user).toEqual({
      username: "jane",
      uid: "u-1",
      groups: ["developers, with a comma", "admins", "system:authenticated"],
      extra: { "acme.com/project": ["a", "b"] },
    });
  });

  it("knows the groups of service accounts, nodes and nobody", () => {
    const groupsOf = (name: string) => act({ "impersonate-user": [name] }).groups;
    expect(groupsOf("system:serviceaccount:here:robot")).toEqual([
      "system:serviceaccounts",
      "system:serviceaccounts:here",
      "system:authenticated",
    ]);
    expect(groupsOf("system:node:n1")).toEqual(["system:nodes", "system:authenticated"]);
    expect(groupsOf("system:anonymous")).toEqual(["system:unauthenticated"]);
  });

  it("needs the name of a user", () => {
    expect(() => act({ "impersonate-group": ["a", "b"], "impersonate-extra-x": ["y"] })).toThrow(
      'requested &user.DefaultInfo{Name:"", UID:"", Groups:[]string{"a", "b"}, Extra:map[string][]string{"x":[]string{"y"}}} without impersonating a user name',
    );
  });

  it("tells the first refusal of those who may not impersonate", () => {
    const { authorizer, asked } = permitting(() => false);
    expect(() => act({ "impersonate-user": ["jane"] }, authorizer)).toThrow(
      'pods is forbidden: User "ops" cannot impersonate-on:user-info:list resource "pods" in API group "" in the namespace "default"',
    );
    expect(asked).toEqual(["impersonate-on:user-info:list pods//", "impersonate users//jane"]);
  });

  it("asks for each thing that is taken over", () => {
    const { authorizer, asked } = permitting(({ verb }) => verb === "impersonate");
    const headers = {
      "impersonate-user": ["jane"],
      "impersonate-uid": ["u"],
      "impersonate-group": ["a", "b"],
      "impersonate-extra-k": ["v"],
    };
    expect(act(headers, authorizer).username).toBe("jane");
    expect(asked.slice(1)).toEqual([
      "impersonate users//jane",
      "impersonate uids//u",
      "impersonate groups//a",
      "impersonate groups//b",
      "impersonate userextras/k/v",
    ]);
  });

  it("makes nobody a master who may only impersonate for some verbs", () => {
    const { authorizer } = permitting(({ verb }) => verb !== "impersonate");
    const headers = { "impersonate-user": ["jane"], "impersonate-group": ["system:masters"] };
    expect(() => act(headers, authorizer)).toThrow(
      'groups.authentication.k8s.io "system:masters" is forbidden: User "ops" cannot impersonate:user-info resource "groups" in API group "authentication.k8s.io" at the cluster scope: impersonating the system:masters group is not allowed',
    );
    expect(act({ "impersonate-user": ["jane"] }, authorizer).username).toBe("jane");
  });

  it("asks about many groups at once before it asks about each", () => {
    const headers = { "impersonate-user": ["jane"], "impersonate-group": ["a", "b", "c", "d"] };
    const all = permitting((attempt) => attempt.type === "path" || !["a", "b", "c", "d"].includes(attempt.name));
    expect(act(headers, all.authorizer).groups).toEqual(["a", "b", "c", "d", "system:authenticated"]);
    const each = permitting((attempt) => attempt.type === "path" || attempt.name !== "*");
    act(headers, each.authorizer);
    expect(each.asked.slice(2)).toEqual([
      "impersonate:user-info groups//*",
      ..."abcd".split("").map((name) => `impersonate:user-info groups//${name}`),
    ]);
  });

  it("refuses extra information that the narrow ways do not know", () => {
    const { authorizer } = permitting(({ verb }) => verb !== "impersonate");
    const refused = (key: string, ...values: string[]) => {
      const headers = { "impersonate-user": ["jane"], [`impersonate-extra-${key}`]: values };
      return () => act(headers, authorizer);
    };
    expect(refused("scopes", "x")).toThrow('must be a domain-prefixed path (such as "acme.io/foo")');
    expect(refused("", "x")).toThrow("impersonating the empty string key in extra is not allowed");
    expect(refused("acme.io%2fa", "")).toThrow("impersonating the empty string value in extra is not allowed");
    expect(refused("acme.io%2fa", "b")().extra).toEqual({ "acme.io/a": ["b"] });
  });

  it("lets an account act for the node that it runs on", () => {
    const { authorizer, asked } = permitting(({ verb }) => verb.includes("associated-node"));
    const agent: RequestUser = {
      username: "system:serviceaccount:here:agent",
      groups: [],
      extra: { "authentication.kubernetes.io/node-name": ["n1"] },
    };
    expect(act({ "impersonate-user": ["system:node:n1"] }, authorizer, agent).username).toBe("system:node:n1");
    expect(asked).toEqual(["impersonate-on:associated-node:list pods//", "impersonate:associated-node nodes//*"]);
    expect(() => act({ "impersonate-user": ["system:node:n2"] }, authorizer, agent)).toThrow("arbitrary-node");
  });
});

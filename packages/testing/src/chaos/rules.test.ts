import { describe, expect, it } from "vitest";
import { type ChaosRequest, RequestCounts, readRequest } from "./request.ts";
import { type ChaosRule, decideBy } from "./rules.ts";

const JSON_TYPE = { "content-type": "application/json" };

/** Reads requests one after the other, as the proxy does. */
function reader() {
  const counts = new RequestCounts();
  return (line: string, body?: object, headers: Record<string, string> = JSON_TYPE): ChaosRequest => {
    const [method = "", url = ""] = line.split(" ");
    return readRequest({ method, url, headers }, Buffer.from(body ? JSON.stringify(body) : ""), counts);
  };
}

describe("a request is read as Kubernetes means it:", () => {
  it.each([
    ["GET /api/v1/namespaces/default/pods", "list pods", "", "default"],
    ["GET /api/v1/pods?watch=true", "watch pods", "", ""],
    ["GET /api/v1/pods?watch=false", "list pods", "", ""],
    ["GET /api/v1/watch/namespaces/a/pods", "watch pods", "", "a"],
    ["GET /apis/apps/v1/namespaces/a/deployments/web", "get deployments/web", "apps", "a"],
    ["PUT /apis/apps/v1/namespaces/a/deployments/web/status", "update deployments/web/status", "apps", "a"],
    ["DELETE /apis/apps/v1/namespaces/a/deployments", "deletecollection deployments", "apps", "a"],
    ["GET /api/v1/namespaces/a", "get namespaces/a", "", ""],
    ["PUT /api/v1/namespaces/a/finalize", "update namespaces/a/finalize", "", ""],
    ["POST /api/v1/namespaces/a/pods/web/exec?command=ls", "connect pods/web/exec", "", "a"],
    ["GET /apis/apps/v1", "get /apis/apps/v1", "", ""],
  ])("%s", (line, label, group, namespace) => {
    expect(reader()(line)).toMatchObject({ label, group, namespace });
  });

  it("names what is created by its body, and counts what was asked before", () => {
    const read = reader();
    const create = () => read("POST /api/v1/namespaces/a/configmaps", { metadata: { name: "one" } });
    expect([create(), create()]).toMatchObject([
      { label: "create configmaps/one", index: 0, writes: 0, write: true },
      { label: "create configmaps/one", index: 1, writes: 1 },
    ]);
    const apply = read(
      "PATCH /api/v1/namespaces/a/configmaps/one",
      {},
      { "content-type": "application/apply-patch+yaml" },
    );
    expect(apply).toMatchObject({ verb: "apply", writes: 2 });
    // A question in the form of a write, and what is written all the time.
    expect(read("POST /apis/authorization.k8s.io/v1/selfsubjectaccessreviews").write).toBe(false);
    expect(read("PUT /apis/coordination.k8s.io/v1/namespaces/a/leases/mine")).toMatchObject({ write: true, writes: 3 });
    expect(read("PUT /api/v1/namespaces/a/configmaps/one").writes).toBe(3);
  });

  it("does not look into what is no JSON", () => {
    const request = {
      method: "POST",
      url: "/api/v1/namespaces/a/pods",
      headers: { "content-type": "application/yaml" },
    };
    expect(readRequest(request, Buffer.from("k8s\0binary"), new RequestCounts())).toMatchObject({
      name: "",
      body: undefined,
    });
  });
});

describe("rules", () => {
  const refused = { type: "answer", status: 500 } as const;
  const hits = (rules: ChaosRule[], lines: string[], seed?: number) => {
    const decide = decideBy(rules, seed === undefined ? {} : { seed });
    const read = reader();
    return lines.filter((line) => decide(read(line)) !== undefined);
  };
  const lines = [
    "GET /api/v1/namespaces/a/pods",
    "PUT /api/v1/namespaces/a/pods/web-1",
    "PUT /apis/apps/v1/namespaces/b/deployments/web",
    "DELETE /apis/apps/v1/namespaces/b/deployments/web",
  ];

  it.each<[string, Omit<ChaosRule, "fault">, number[]]>([
    ["all", {}, [0, 1, 2, 3]],
    ["by verb", { verbs: ["list", "delete"] }, [0, 3]],
    ["writes", { verbs: ["write"] }, [1, 2, 3]],
    ["reads", { verbs: ["read"] }, [0]],
    ["by plural", { kinds: ["pods"] }, [0, 1]],
    ["by plural and group", { kinds: ["deployments.apps"] }, [2, 3]],
    ["by namespace", { namespaces: ["b"] }, [2, 3]],
    ["by name", { names: ["web-*"] }, [1]],
    ["the n-th that matches", { verbs: ["write"], at: 2 }, [2]],
    ["the n-th write", { atWrite: 3 }, [3]],
    ["so often", { times: 2 }, [0, 1]],
    ["never", { chance: 0 }, []],
  ])("hit %s", (_, rule, expected) => {
    expect(hits([{ fault: refused, ...rule }], lines)).toEqual(expected.map((i) => lines[i]));
  });

  it("hit about as many as they say, the same for the same seed, whatever comes first", () => {
    const many = Array.from({ length: 1_000 }, (_, i) => `PUT /api/v1/namespaces/a/pods/web-${i}`);
    const rule: ChaosRule[] = [{ fault: refused, chance: 0.1 }];
    const first = hits(rule, many);
    expect(first.length).toBeGreaterThan(60);
    expect(first.length).toBeLessThan(140);
    expect(new Set(hits(rule, many.toReversed()))).toEqual(new Set(first));
    expect(hits(rule, many, 2)).not.toEqual(first);
  });

  it("of which several match: the first one counts", () => {
    const decide = decideBy([{ fault: { type: "reset" }, verbs: ["list"] }, { fault: refused }]);
    const read = reader();
    expect(lines.slice(0, 2).map((line) => decide(read(line))?.type)).toEqual(["reset", "answer"]);
  });

  it("for events ask at each event of a watch", () => {
    const decide = decideBy([{ fault: "twice", kinds: ["pods"], at: 2 }]);
    const read = reader();
    expect(decide(read(lines[0] ?? ""))).toBeUndefined();
    const fault = decide(read("GET /api/v1/pods?watch=1"));
    if (fault?.type !== "lines") throw new Error("nothing is done to events");
    expect([fault.each("a"), fault.each("b"), fault.each("c")]).toEqual(["pass", "twice", "pass"]);
  });

  it.each<[ChaosRule, string]>([
    [{ fault: refused, verbs: ["destroy" as never] }, 'there is no verb "destroy"'],
    [{ fault: refused, chance: 10 }, "its chance is 10"],
    [{ fault: refused, at: 0 }, "`at` is 0"],
    [{ fault: { type: "answer", status: 200 } }, "it answers 200"],
    [{ fault: { type: "delay", ms: -1 } }, "it waits -1 ms"],
  ])("that make no sense are refused: %j", (rule, message) => {
    expect(() => decideBy([rule])).toThrow(message);
  });
});

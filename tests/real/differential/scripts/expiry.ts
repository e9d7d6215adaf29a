import type { Json, Script, Step } from "../script.ts";
import { get, post } from "./requests.ts";

// Of all kinds the real server keeps only events out of its cache, which would remember what etcd has forgotten.
const all = "/api/v1/namespaces/{{ns}}/events";
const mine = { labelSelector: "suite=expiry" };
const labels = { suite: "expiry" };
const event = (name: string): Json => ({
  metadata: { name, labels },
  involvedObject: { kind: "ConfigMap", apiVersion: "v1", name: "x", namespace: "{{ns}}" },
});

/** A continue token, as servers write it. */
const token = (rv: number, start: string): string =>
  Buffer.from(JSON.stringify({ v: "meta.k8s.io/v1", rv, start })).toString("base64url");

const forget: Step = { name: "forgets the past", path: "", compact: true };

/** What is left of the past after it was compacted. */
export const expiry: Script = {
  title: "a forgotten past",
  namespace: "diff-expiry",
  steps: [
    ...["a", "b", "c"].map((name) => post(`creates ${name}`, all, event(name))),
    get("lists a page", all, { ...mine, limit: "1" }, { capture: { next: "metadata.continue" } }),
    forget,
    get(
      "continues what is forgotten",
      all,
      { ...mine, limit: "1", continue: token(2, "a\u0000") },
      {
        capture: { inconsistent: "metadata.continue" },
      },
    ),
    get("continues all the same", all, { ...mine, limit: "1", continue: "{{inconsistent}}" }),
    get("continues with a token for the present", all, { ...mine, limit: "1", continue: token(-1, "a\u0000") }),
    get("continues with a token without a version", all, { ...mine, continue: token(0, "a\u0000") }),
    get("continues with a token that starts nowhere", all, { ...mine, continue: token(-1, "") }),
    get("continues with a token that leaves its place", all, { ...mine, continue: token(-1, "../x") }),
    get("continues with an old kind of token", all, {
      ...mine,
      continue: Buffer.from('{"v":"v0","rv":1,"start":"a"}').toString("base64url"),
    }),
    get("lists exactly what is forgotten", all, { ...mine, resourceVersion: "2", resourceVersionMatch: "Exact" }),
    get("lists a page of what is forgotten", all, { ...mine, resourceVersion: "2", limit: "1" }),
    get("lists what is not older than the forgotten", all, {
      ...mine,
      resourceVersion: "2",
      resourceVersionMatch: "NotOlderThan",
    }),
    get("watches from the forgotten", all, { ...mine, watch: "1", resourceVersion: "2" }, { watch: { events: 1 } }),
  ],
};

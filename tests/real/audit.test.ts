import { describe, expect, it } from "vitest";
import { type AuditEvent, parseAuditLog, writesOf } from "./audit.ts";

const event = (changes: Partial<AuditEvent> = {}): AuditEvent => ({
  auditID: "1",
  level: "RequestResponse",
  stage: "ResponseComplete",
  requestURI: "/api/v1/namespaces/default/configmaps/a",
  verb: "patch",
  user: { username: "admin" },
  userAgent: "lotse",
  objectRef: { resource: "configmaps", namespace: "default", name: "a" },
  responseStatus: { code: 200 },
  requestReceivedTimestamp: "2026-01-01T00:00:00.000000Z",
  ...changes,
});

describe("the audit log", () => {
  it("is read up to the last complete line", () => {
    const lines = `${JSON.stringify(event())}\n${JSON.stringify(event({ auditID: "2" }))}\n{"auditID":"3`;
    expect(parseAuditLog(lines).map(({ auditID }) => auditID)).toEqual(["1", "2"]);
    expect(parseAuditLog("")).toEqual([]);
  });

  it("counts each successful write of a user once", () => {
    const events = [
      event({ stage: "ResponseStarted" }),
      event(),
      event({ verb: "get" }),
      event({ verb: "watch" }),
      event({ verb: "create", objectRef: { resource: "selfsubjectreviews", apiGroup: "authentication.k8s.io" } }),
      event({ responseStatus: { code: 409 } }),
      event({ user: { username: "system:kube-controller-manager" } }),
      event({ requestURI: "/api/v1/namespaces/default/configmaps/a?fieldManager=b&dryRun=All" }),
      event({ objectRef: { resource: "configmaps", namespace: "default", name: "a", subresource: "status" } }),
    ];
    const write = {
      verb: "patch",
      resource: "configmaps",
      namespace: "default",
      name: "a",
      user: "admin",
      userAgent: "lotse",
    };
    expect(writesOf(events)).toEqual([
      { ...write, subresource: undefined },
      { ...write, subresource: "status" },
    ]);
  });

  it("names a resource with its group, as the embedded cluster does", () => {
    const [write] = writesOf([event({ objectRef: { resource: "widgets", apiGroup: "example.com", name: "a" } })]);
    expect(write?.resource).toBe("widgets.example.com");
  });
});

import { describe, expect, it } from "vitest";
import { pathTo, resourceOf, targetOf, withQueryApart } from "./request-target.ts";

describe("what a request is about", () => {
  it.each([
    ["/api/v1/namespaces/default/pods/web/log", "pods", "default", "web", "log"],
    ["/api/v1/namespaces/default/pods", "pods", "default", undefined, undefined],
    ["/api/v1/namespaces/default", "namespaces", undefined, "default", undefined],
    ["/api/v1/namespaces/default/status", "namespaces", undefined, "default", "status"],
    ["/apis/apps/v1/deployments", "deployments.apps", undefined, undefined, undefined],
    ["/api/v1/nodes/one/proxy/a/b", "nodes", undefined, "one", "proxy/a/b"],
    ["/apis/x.io/v1/namespaces/a%20b/things/c%2Fd", "things.x.io", "a b", "c/d", undefined],
  ])("%s", (path, resource, namespace, name, subresource) => {
    const target = targetOf(path);
    expect(target).toMatchObject({ namespace, name, subresource });
    expect(target && resourceOf(target)).toBe(resource);
    expect(target && pathTo(target)).toBe(path);
  });

  it.each(["/version", "/apis", "/apis/apps", "/apis/apps/v1", "/openapi/v3"])("%s is about no kind", (path) => {
    expect(targetOf(path)).toBeUndefined();
  });

  it("does not depend on a query, which is put where all of it is", () => {
    const request = { path: "/api/v1/pods?a=1&b=2", query: { b: 3 } };
    expect(targetOf(request.path)?.plural).toBe("pods");
    expect(withQueryApart(request)).toEqual({ path: "/api/v1/pods", query: { a: "1", b: 3 } });
    const plain = { path: "/api/v1/pods" };
    expect(withQueryApart(plain)).toBe(plain);
  });
});

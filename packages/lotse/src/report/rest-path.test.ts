import { expect, it } from "vitest";
import { readPath } from "./rest-path.ts";

it.each([
  ["/api/v1/pods", "/api/v1/pods", "pods", undefined, undefined],
  ["/api/v1/namespaces", "/api/v1/namespaces", "namespaces", undefined, undefined],
  ["/api/v1/namespaces/team-a", "/api/v1/namespaces/{name}", "namespaces", undefined, "team-a"],
  [
    "/api/v1/namespaces/team-a/finalize",
    "/api/v1/namespaces/{name}/finalize",
    "namespaces/finalize",
    undefined,
    "team-a",
  ],
  ["/api/v1/namespaces/team-a/pods?limit=5", "/api/v1/namespaces/{namespace}/pods", "pods", "team-a", undefined],
  [
    "/apis/apps/v1/namespaces/default/deployments/web/scale",
    "/apis/apps/v1/namespaces/{namespace}/deployments/{name}/scale",
    "deployments.apps/scale",
    "default",
    "web",
  ],
  [
    "/apis/rbac.authorization.k8s.io/v1/clusterroles/system%3Anode",
    "/apis/rbac.authorization.k8s.io/v1/clusterroles/{name}",
    "clusterroles.rbac.authorization.k8s.io",
    undefined,
    "system:node",
  ],
  [
    "/api/v1/namespaces/default/services/web/proxy/a/b/c",
    "/api/v1/namespaces/{namespace}/services/{name}/proxy/{path}",
    "services/proxy",
    "default",
    "web",
  ],
  ["/apis/apps/v1", "/apis/apps/v1", undefined, undefined, undefined],
  ["/version", "/version", undefined, undefined, undefined],
  ["/", "/", undefined, undefined, undefined],
])("%s is %s", (path, template, resource, namespace, name) => {
  expect(readPath(path)).toEqual({ template, resource, namespace, name });
});

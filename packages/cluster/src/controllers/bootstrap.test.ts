import { expect, it } from "vitest";
import { Cluster } from "../cluster.ts";
import { call } from "../test-requests.ts";

it("writes its first objects as the server itself would have completed them", async () => {
  await using cluster = await Cluster.start({ tls: false });
  const paths = [
    "/api/v1/namespaces/default",
    "/api/v1/namespaces/kube-system",
    "/api/v1/namespaces/default/services/kubernetes",
  ];
  for (const path of paths) {
    const { body } = await call(cluster, "GET", path);
    // Whatever was missing would be filled in now, and change the version.
    const replaced = await call(cluster, "PUT", path, { body });
    expect(replaced.body).toEqual(body);
  }
});

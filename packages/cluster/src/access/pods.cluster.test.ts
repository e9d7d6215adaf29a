import { Pod } from "@lotse/client";
import { describe, expect, it } from "vitest";
import { Cluster } from "../cluster.ts";
import { call } from "../test-requests.ts";

const POD = "/api/v1/namespaces/default/pods/p";

describe("pods that are processes in a cluster with roles", () => {
  it("are their service account, by the token in their volume and by their kubeconfig", async () => {
    await using cluster = await Cluster.start({ rbac: true, kubelet: "process" });
    await using client = await cluster.connect();
    const folder = "/var/run/secrets/kubernetes.io/serviceaccount";
    const script = 'cat "$0" && echo && cat "$1" && echo && cat "$KUBECONFIG" && sleep 60';
    const command = ["sh", "-c", script, `${folder}/token`, `${folder}/namespace`];
    const pod = await client.create(
      new Pod({ metadata: { name: "p" }, spec: { containers: [{ name: "c", image: "x", command }] } }),
    );
    await pod.wait("condition=Ready");
    await expect.poll(async () => (await call(cluster, "GET", `${POD}/log`)).text).toContain("current-context");
    const [token = "", namespace, ...kubeconfig] = (await call(cluster, "GET", `${POD}/log`)).text.split("\n");
    expect(namespace).toBe("default");
    const whoami = "/apis/authentication.k8s.io/v1/selfsubjectreviews";
    const { body } = await call(cluster, "POST", whoami, { body: {}, headers: { authorization: `Bearer ${token}` } });
    expect(body.status.userInfo).toMatchObject({
      username: "system:serviceaccount:default:default",
      extra: { "authentication.kubernetes.io/pod-name": ["p"] },
    });
    expect(kubeconfig.join("\n")).not.toContain(cluster.token);
  });
});

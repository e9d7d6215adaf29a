import { describe, expect, it } from "vitest";
import { Cluster } from "../cluster.ts";
import { call, STRATEGIC } from "../test-requests.ts";

const NAMESPACE = "/api/v1/namespaces/default";

const service = (spec: object) => ({ apiVersion: "v1", kind: "Service", metadata: { name: "hooks" }, spec });

async function withService(spec: object): Promise<Cluster> {
  const cluster = await Cluster.start({ tls: false, controllers: { endpoints: false } as object });
  const answer = await call(cluster, "POST", `${NAMESPACE}/services`, { body: service(spec) });
  expect(answer.status).toBe(201);
  return cluster;
}

describe("where a Service really is", () => {
  it("is what was routed, until that is taken back", async () => {
    await using cluster = await Cluster.start({ tls: false });
    const back = cluster.services.route("default/hooks", 9443);
    expect(cluster.services.resolve("default", "hooks", 443)).toEqual({ host: "127.0.0.1", port: 9443 });
    cluster.services.route("default/hooks", 9444, "::1");
    back();
    expect(cluster.services.resolve("default", "hooks", 443)).toEqual({ host: "::1", port: 9444 });
  });

  it("is another name for one that says so", async () => {
    await using cluster = await withService({ type: "ExternalName", externalName: "hooks.example.com" });
    expect(cluster.services.resolve("default", "hooks", 443)).toEqual({ host: "hooks.example.com", port: 443 });
  });

  it("is unknown for a port that it does not have", async () => {
    await using cluster = await withService({ ports: [{ port: 443 }] });
    expect(() => cluster.services.resolve("default", "hooks", 444)).toThrow(
      'no service port 444 found for service "hooks"',
    );
  });

  it("is an endpoint that somebody wrote down", async () => {
    await using cluster = await withService({ ports: [{ name: "https", port: 443 }] });
    await call(cluster, "POST", "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices", {
      body: {
        apiVersion: "discovery.k8s.io/v1",
        kind: "EndpointSlice",
        metadata: { name: "hooks-1", labels: { "kubernetes.io/service-name": "hooks" } },
        addressType: "IPv4",
        ports: [{ name: "https", port: 8443 }],
        endpoints: [{ addresses: ["192.0.2.1"], conditions: { ready: false } }, { addresses: ["192.0.2.2"] }],
      },
    });
    expect(cluster.services.resolve("default", "hooks", 443)).toEqual({ host: "192.0.2.2", port: 8443 });
  });

  it("is a port of this machine for a pod that is ready", async () => {
    await using cluster = await withService({
      selector: { app: "hooks" },
      ports: [{ port: 443, targetPort: "web" }],
    });
    const pod = {
      apiVersion: "v1",
      kind: "Pod",
      metadata: { name: "p", labels: { app: "hooks" } },
      spec: { containers: [{ name: "main", image: "main:1", ports: [{ name: "web", containerPort: 9443 }] }] },
    };
    await call(cluster, "POST", `${NAMESPACE}/pods`, { body: pod });
    expect(() => cluster.services.resolve("default", "hooks", 443)).toThrow("no endpoints available");
    await call(cluster, "PATCH", `${NAMESPACE}/pods/p/status`, {
      type: STRATEGIC,
      body: { status: { conditions: [{ type: "Ready", status: "True" }] } },
    });
    expect(cluster.services.resolve("default", "hooks", 443)).toEqual({ host: "127.0.0.1", port: 9443 });
  });
});

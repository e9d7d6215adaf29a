import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { CertificateAuthority } from "@lotse/client/certificates";
import { ConfigError, systemClock } from "@lotse/client/meta";
import { describe, expect, it } from "vitest";
import { readLocalAddresses, readServerNames } from "./ask.ts";
import { namesOfReach, planReach, type ReachFacts } from "./reach.ts";
import { addressInSubnet } from "./subnets.ts";

const KUBERNETES = ["kubernetes", "kubernetes.default", "kubernetes.default.svc", "10.96.0.1"];

function facts(more: Partial<Omit<ReachFacts, "serverCertificateNames">> & { names?: readonly string[] }): ReachFacts {
  const { names = KUBERNETES, ...rest } = more;
  return {
    webhooks: {},
    inCluster: false,
    namespace: "things",
    defaultService: "operator",
    port: 9443,
    serverUrl: "https://203.0.113.7:6443",
    serverVersion: "v1.36.0",
    serverCertificateNames: async () => names,
    nodeAddresses: async () => [],
    localAddresses: [],
    ...rest,
  };
}

describe("in the cluster", () => {
  it("the webhook server is behind a Service: the operator's, or the one that is named", async () => {
    const service = (options: ReachFacts["webhooks"]) => planReach(facts({ inCluster: true, webhooks: options }));
    expect(await service({})).toEqual({ service: { namespace: "things", name: "operator", port: 443 } });
    expect(await service({ service: "hooks" })).toEqual({ service: { namespace: "things", name: "hooks", port: 443 } });
    expect(await service({ service: { namespace: "other", name: "hooks", port: 8443 } })).toEqual({
      service: { namespace: "other", name: "hooks", port: 8443 },
    });
  });

  it("its certificate is for all names of the Service", () => {
    expect(namesOfReach({ service: { namespace: "things", name: "hooks", port: 443 } })).toEqual([
      "hooks.things.svc",
      "hooks.things.svc.cluster.local",
      "hooks.things",
    ]);
  });
});

describe("a URL", () => {
  it("that is named wins over all that could be found out", async () => {
    const url = "https://hooks.example.com:8443/base/";
    for (const inCluster of [true, false]) {
      expect(await planReach(facts({ inCluster, webhooks: { url } }))).toEqual({
        url: "https://hooks.example.com:8443/base",
      });
    }
    expect(namesOfReach({ url })).toEqual(["hooks.example.com"]);
    expect(namesOfReach({ url: "https://[fd00::1]:8443" })).toEqual(["fd00::1"]);
  });

  it.each([
    ["http://hooks.example.com", "does not begin with https://"],
    ["hooks.example.com", "is no address"],
    ["https://me:secret@hooks.example.com", "has a user in it"],
    ["https://hooks.example.com?x=1", "has a query or a fragment"],
    ["https://hooks.example.com#x", "has a query or a fragment"],
  ])("that no API server would call is an error: %s", async (url, wrong) => {
    await expect(planReach(facts({ webhooks: { url } }))).rejects.toThrow(
      `The webhook URL ${JSON.stringify(url)} ${wrong}: no API server would call it.`,
    );
  });
});

describe("from a laptop", () => {
  it.each<[string, Parameters<typeof facts>[0], string]>([
    ["the embedded cluster", { serverUrl: "https://127.0.0.1:41234", serverVersion: "v1.36.0+lotse" }, "127.0.0.1"],
    ["an embedded cluster elsewhere", { serverVersion: "v1.36.0+lotse" }, "127.0.0.1"],
    ["a plain API server on this machine", { serverUrl: "https://localhost:6443" }, "127.0.0.1"],
    ["one that listens on IPv6", { serverUrl: "https://[::1]:6443", webhooks: { host: "::1" } }, "[::1]"],
    ["k3d", { serverUrl: "https://0.0.0.0:33445", names: ["k3d-dev-server-0", "localhost"] }, "host.k3d.internal"],
    ["k3d behind its balancer", { serverUrl: "https://0.0.0.0:1", names: ["k3d-dev-serverlb"] }, "host.k3d.internal"],
    ["k3s by its version", { serverUrl: "https://127.0.0.1:6550", serverVersion: "v1.33.4+k3s1" }, "host.k3d.internal"],
    [
      "minikube",
      { serverUrl: "https://192.168.49.2:8443", names: ["minikube", "control-plane.minikube.internal"] },
      "host.minikube.internal",
    ],
    ["Docker Desktop", { serverUrl: "https://kubernetes.docker.internal:6443" }, "host.docker.internal"],
    [
      "Docker Desktop by its certificate",
      { serverUrl: "https://127.0.0.1:6443", names: ["docker-desktop"] },
      "host.docker.internal",
    ],
    [
      "Rancher Desktop",
      { serverUrl: "https://127.0.0.1:6443", names: ["lima-rancher-desktop"] },
      "host.rancher-desktop.internal",
    ],
    ["OrbStack", { serverUrl: "https://127.0.0.1:26443", names: ["k8s.orb.local"] }, "host.orb.internal"],
    [
      "kind on Docker Desktop",
      { serverUrl: "https://127.0.0.1:6443", names: ["kind-control-plane"] },
      "host.docker.internal",
    ],
    [
      "kind on Linux",
      {
        serverUrl: "https://127.0.0.1:33001",
        names: ["kind-control-plane", "localhost"],
        nodeAddresses: async () => ["172.18.0.2"],
        localAddresses: [
          { address: "192.168.1.5", cidr: "192.168.1.5/24" },
          { address: "172.18.0.1", cidr: "172.18.0.1/16" },
        ],
      },
      "172.18.0.1",
    ],
    ["any cluster, by the address that the user named", { webhooks: { host: "203.0.113.20" } }, "203.0.113.20"],
  ])("reaches %s by its name for this machine", async (_name, given, host) => {
    expect(await planReach(facts(given))).toEqual({ url: `https://${host}:9443` });
  });

  it("goes without what cannot be found out", async () => {
    const broken = () => Promise.reject(new Error("no"));
    const unknown = facts({ serverUrl: "https://127.0.0.1:6443" });
    expect(await planReach({ ...unknown, serverCertificateNames: broken })).toEqual({ url: "https://127.0.0.1:9443" });
    const kind = facts({ serverUrl: "https://127.0.0.1:6443", names: ["dev-control-plane"], nodeAddresses: broken });
    expect(await planReach(kind)).toEqual({ url: "https://host.docker.internal:9443" });
  });

  it("is an error that says what to do where no way is known", async () => {
    for (const given of [{}, { serverVersion: "v1.33.4+k3s1" }, { webhooks: { host: "0.0.0.0" } }]) {
      const error = await planReach(facts(given)).catch((reason: unknown) => reason);
      expect(error).toBeInstanceOf(ConfigError);
      expect(error).toMatchObject({
        message:
          "The operator has webhooks, and the API server at 203.0.113.7:6443 has no way to reach this machine that is known.",
        hint: "Say one with --webhook-url https://NAME:PORT (or webhooks: { url }), run the operator in the cluster, or use lotse dev.",
      });
    }
  });
});

describe("what is asked of machines", () => {
  it("the names in a server's certificate, whoever signed it", async () => {
    const issued = new CertificateAuthority("x", Date.now()).issue({
      commonName: "k3s",
      hosts: ["k3d-dev-server-0", "127.0.0.1"],
      usage: "server",
    });
    const server = createServer({ key: issued.keyPem, cert: issued.certPem });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as AddressInfo;
    const url = `https://127.0.0.1:${port}`;
    expect(await readServerNames(url, systemClock)).toEqual(["k3s", "k3d-dev-server-0", "127.0.0.1"]);
    await new Promise((resolve) => server.close(resolve));
    await expect(readServerNames(url, systemClock)).rejects.toThrow("ECONNREFUSED");
    expect(await readServerNames("http://127.0.0.1:1", systemClock)).toEqual([]);
  });

  it("an address of this machine in the network of a node", () => {
    const local = [
      { address: "fd00::1", cidr: "fd00::1/64" },
      { address: "10.0.0.9", cidr: null },
      { address: "10.1.0.1", cidr: "10.1.0.1/24" },
    ];
    expect(addressInSubnet(["10.1.0.77"], local)).toBe("10.1.0.1");
    expect(addressInSubnet(["10.1.1.77", "fd00::2"], local)).toBeUndefined();
    expect(addressInSubnet([], local)).toBeUndefined();
    for (const { address } of readLocalAddresses()) expect(address).not.toMatch(/^127\.|^::1$/);
  });
});

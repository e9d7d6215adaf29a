import { describe, expect, it } from "vitest";
import { Cluster } from "../../../cluster.ts";
import { call, define, MERGE, WIDGETS, widget, widgetDefinition } from "../../../test-requests.ts";
import { addressWarnings, rangeWarnings } from "./addresses.ts";
import { podWarnings } from "./pod.ts";

const NAMESPACE = "/api/v1/namespaces/default";

const texts = (warnings: readonly string[]): string[] =>
  warnings.map((text) => text.slice('299 - "'.length, -1).replaceAll("\\", ""));

const pod = (name: string, spec: object = {}, metadata: object = {}) => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name, ...metadata },
  spec: { containers: [{ name: "c", image: "i:1" }], ...spec },
});

describe("a writer is warned", () => {
  it("of labels that nodes no longer have", async () => {
    await using cluster = await Cluster.start({ tls: false });
    const body = pod("a", { nodeSelector: { "beta.kubernetes.io/os": "linux" } });
    const { status, warnings } = await call(cluster, "POST", `${NAMESPACE}/pods`, { body });
    expect(status).toBe(201);
    expect(texts(warnings)).toEqual([
      'spec.nodeSelector[beta.kubernetes.io/os]: deprecated since v1.14; use "kubernetes.io/os" instead',
    ]);
  });

  it("of a profile in an annotation, which becomes a field", async () => {
    await using cluster = await Cluster.start({ tls: false });
    const key = "container.apparmor.security.beta.kubernetes.io/c";
    const { body, warnings } = await call(cluster, "POST", `${NAMESPACE}/pods`, {
      body: pod("a", {}, { annotations: { [key]: "localhost/mine" } }),
    });
    expect(texts(warnings)).toEqual([
      `metadata.annotations[${key}]: deprecated since v1.30; use the "appArmorProfile" field instead`,
    ]);
    expect(body.spec.containers[0].securityContext.appArmorProfile).toEqual({
      type: "Localhost",
      localhostProfile: "mine",
    });
  });

  it("of a template again when it changes, and not when something else does", async () => {
    await using cluster = await Cluster.start({ tls: false, controllers: false });
    const path = "/apis/apps/v1/namespaces/default/deployments";
    const env = [
      { name: "A", value: "1" },
      { name: "A", value: "2" },
    ];
    const made = await call(cluster, "POST", path, {
      body: {
        apiVersion: "apps/v1",
        kind: "Deployment",
        metadata: { name: "a" },
        spec: {
          selector: { matchLabels: { a: "b" } },
          template: { metadata: { labels: { a: "b" } }, spec: { containers: [{ name: "c", image: "i:1", env }] } },
        },
      },
    });
    const hidden =
      'spec.template.spec.containers[0].env[1]: hides previous definition of "A", which may be dropped when using apply';
    expect(texts(made.warnings)).toEqual([hidden]);
    const patch = (body: object) => call(cluster, "PATCH", `${path}/a`, { type: MERGE, body });
    expect((await patch({ metadata: { labels: { x: "y" } } })).warnings).toEqual([]);
    expect(texts((await patch({ spec: { replicas: 2 } })).warnings)).toEqual([hidden]);
  });

  it("of addresses outside of a Service", async () => {
    await using cluster = await Cluster.start({ tls: false });
    const { warnings } = await call(cluster, "POST", `${NAMESPACE}/services`, {
      body: {
        apiVersion: "v1",
        kind: "Service",
        metadata: { name: "s" },
        spec: { ports: [{ port: 80 }], externalIPs: ["2001:DB8::1"], trafficDistribution: "PreferClose" },
      },
    });
    expect(texts(warnings)).toEqual([
      'spec.externalIPs[0]: IPv6 address "2001:DB8::1" should be in RFC 5952 canonical format ("2001:db8::1")',
      "spec.externalIPs is deprecated and may no longer be implemented in some clusters",
      'spec.trafficDistribution: "PreferClose" is deprecated; use "PreferSameZone"',
    ]);
  });

  it("of finalizers of custom objects that others could have, too", async () => {
    await using cluster = await Cluster.start({ tls: false });
    await define(cluster, widgetDefinition());
    const { status, warnings } = await call(cluster, "POST", WIDGETS, {
      body: widget("a", {}, { finalizers: ["plain", "b.example.com", "c.example.com/d"] }),
    });
    expect(status).toBe(201);
    expect(texts(warnings)).toEqual([
      'metadata.finalizers: "b.example.com": prefer a domain-qualified finalizer name including a path (/) to avoid accidental conflicts with other finalizer writers',
      'metadata.finalizers: "plain": prefer a domain-qualified finalizer name to avoid accidental conflicts with other finalizer writers',
    ]);
    const again = await call(cluster, "PATCH", `${WIDGETS}/a`, {
      type: MERGE,
      body: { metadata: { labels: { a: "b" } } },
    });
    expect(again.warnings).toEqual([]);
  });

  it("of everything, though shorter, where there is too much", async () => {
    await using cluster = await Cluster.start({ tls: false });
    const variables = Array.from({ length: 40 }, (_, i) => ({ name: `${"L".repeat(300)}${i >> 1}`, value: "1" }));
    const body = pod("a", { containers: [{ name: "c", image: "i:1", env: variables }] });
    const { warnings } = await call(cluster, "POST", `${NAMESPACE}/pods`, { body });
    expect(warnings.map((text) => text.replaceAll("\\", "").length)).toEqual(new Array(16).fill(256 + 8));
  });
});

describe("what is said about a pod", () => {
  const said = (spec: object) => podWarnings(spec as Record<string, unknown>, {}, "");
  const ports = (...list: object[]) => said({ containers: [{ name: "c", ports: list }] });

  it("is where ports are in each other's way", () => {
    expect(ports({ containerPort: 80 }, { containerPort: 80 })).toEqual([
      "spec.containers[0].ports[1]: duplicate port definition with spec.containers[0].ports[0]",
    ]);
    expect(ports({ containerPort: 80, hostPort: 1 }, { containerPort: 80 })).toEqual([
      "spec.containers[0].ports[1]: overlapping port definition with spec.containers[0].ports[0]",
    ]);
    expect(ports({ containerPort: 80, hostPort: 1 }, { containerPort: 80, hostPort: 1, hostIP: "1.2.3.4" })).toEqual([
      "spec.containers[0].ports[1]: dangerously ambiguous port definition with spec.containers[0].ports[0]",
    ]);
  });

  it("is where files lie over each other", () => {
    const items = [{ path: "a" }, { path: "a/b" }, { path: "ab" }];
    expect(said({ volumes: [{ name: "v", configMap: { name: "m", items } }] })).toEqual([
      'volume "v" (ConfigMap "m"): overlapping paths: "a/b" with "a"',
    ]);
  });

  it("is where a byte is not whole", () => {
    const resources = { limits: { memory: "1500m" }, requests: { memory: "1Gi" } };
    expect(said({ containers: [{ name: "c", resources }] })).toEqual([
      'spec.containers[0].resources.limits[memory]: fractional byte value "1500m" is invalid, must be an integer',
    ]);
  });
});

describe("the spelling of addresses", () => {
  it("has one right form", () => {
    expect(addressWarnings("1.2.3.4", "f")).toEqual([]);
    expect(addressWarnings("01.2.3.4", "f")).toEqual([
      'f: non-standard IP address "01.2.3.4" is invalid: use "1.2.3.4"',
    ]);
    expect(addressWarnings("::ffff:1.2.3.4", "f")).toEqual([
      'f: non-standard IP address "::ffff:1.2.3.4" is invalid: use "1.2.3.4"',
    ]);
  });

  it("of a range says what it means", () => {
    expect(rangeWarnings("10.0.0.0/8", "f")).toEqual([]);
    expect(rangeWarnings("10.0.0.1/8", "f")).toEqual([
      'f: CIDR value "10.0.0.1/8" is ambiguous in this context (should be "10.0.0.0/8" or "10.0.0.1/32"?)',
    ]);
    expect(rangeWarnings("2001:DB8::/64", "f")).toEqual([
      'f: IPv6 CIDR value "2001:DB8::/64" should be in RFC 5952 canonical format ("2001:db8::/64")',
    ]);
  });
});

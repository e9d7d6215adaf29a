import { describe, expect, it } from "vitest";
import { Cluster } from "../../cluster.ts";
import { CONFIG_MAPS, call } from "../../test-requests.ts";
import { parseRequestInfo } from "../request-info.ts";
import { Metrics } from "./metrics.ts";

const metricsOf = async (cluster: Cluster) => (await call(cluster, "GET", "/metrics")).text.split("\n");

describe("/metrics", () => {
  it("counts requests by what they are about, and objects by their kind", async () => {
    await using cluster = await Cluster.start({ tls: false, controllers: false });
    const map = (name: string) => ({ apiVersion: "v1", kind: "ConfigMap", metadata: { name } });
    for (const name of ["a", "b"]) await call(cluster, "POST", CONFIG_MAPS, { body: map(name) });
    await call(cluster, "POST", `${CONFIG_MAPS}?dryRun=All`, { body: map("c") });
    await call(cluster, "GET", `${CONFIG_MAPS}/nothing`);
    await call(cluster, "GET", "/healthz");
    const { headers, text } = await call(cluster, "GET", "/metrics");
    expect(headers["content-type"]).toContain("text/plain; version=0.0.4");
    const lines = text.split("\n");
    const labels = (code: number, scope: string, verb: string, dryRun = "") =>
      `code="${code}",component="apiserver",dry_run="${dryRun}",group="",resource="configmaps",scope="${scope}",subresource="",verb="${verb}",version="v1"`;
    expect(lines).toContain(`apiserver_request_total{${labels(201, "resource", "POST")}} 2`);
    expect(lines).toContain(`apiserver_request_total{${labels(201, "resource", "POST", "All")}} 1`);
    expect(lines).toContain(`apiserver_request_total{${labels(404, "resource", "GET")}} 1`);
    expect(lines).toContain('apiserver_storage_objects{resource="namespaces"} 4');
    expect(lines).toContain('apiserver_resource_objects{group="apps",resource="deployments"} 0');
    expect(lines).toContain('apiserver_current_inflight_requests{request_kind="readOnly"} 1');
    expect(lines.some((line) => line.startsWith("process_resident_memory_bytes "))).toBe(true);
    const count = lines.find((line) => line.startsWith("apiserver_request_duration_seconds_count"));
    expect(count).toBeDefined();
    // Each line is a comment, or a name with labels and a number.
    const odd = lines.filter(
      (line) => line !== "" && !/^(# (HELP|TYPE) \S+ .+|[a-z_]+(\{[^{}]*\})? [0-9.e+-]+)$/.test(line),
    );
    expect(odd).toEqual([]);
  });

  it("is for those who may read it", async () => {
    await using cluster = await Cluster.start({ tls: false, rbac: true });
    const as = (user: string, group: string) =>
      call(cluster, "GET", "/metrics", { headers: { "impersonate-user": user, "impersonate-group": group } });
    expect((await as("jane", "system:authenticated")).status).toBe(403);
    expect((await as("prometheus", "system:monitoring")).status).toBe(200);
    expect((await call(cluster, "GET", "/metrics", { headers: { authorization: "" } })).status).not.toBe(200);
  });

  it("does not grow with paths that somebody makes up", async () => {
    await using cluster = await Cluster.start({ tls: false, controllers: false });
    for (let i = 0; i < 20; i++) {
      await call(cluster, "GET", `/made/up/${i}`);
      await call(cluster, "GET", `/apis/none.example.com/v${i}/things${i}`);
      await call(cluster, "GET", `/apis/none.example.com/v1/things${i}/name`);
      await call(cluster, "GET", `${CONFIG_MAPS}/name/part-${i}`);
      await call(cluster, "GET", `${CONFIG_MAPS}/name-${i}`);
    }
    const lines = await metricsOf(cluster);
    expect(lines.filter((line) => line.startsWith("apiserver_request_total")).length).toBeLessThan(10);
  });
});

describe("how long requests took", () => {
  it("is told in classes, each of which includes those below it", () => {
    let now = 0;
    const metrics = new Metrics(() => now);
    const query = new URLSearchParams();
    const request = { method: "GET", path: "/api/v1/pods", query } as never;
    for (const ms of [4, 30, 90_000]) {
      const end = metrics.begin(request, parseRequestInfo("GET", "/api/v1/pods", query), true);
      now += ms;
      end(200);
    }
    const found = [...metrics.lines()].filter((line) => line.startsWith("apiserver_request_duration_seconds"));
    const of = (le: string) =>
      Number(
        found
          .find((line) => line.includes(`le="${le}"`))
          ?.split(" ")
          .at(-1),
      );
    expect([of("0.005"), of("0.025"), of("0.05"), of("60"), of("+Inf")]).toEqual([1, 1, 2, 2, 3]);
  });
});

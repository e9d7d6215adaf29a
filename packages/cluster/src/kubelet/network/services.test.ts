import { describe, expect, it } from "vitest";
import type { ApiObject } from "../../registry/index.ts";
import { hostTable, portsOf } from "./services.ts";
import { serviceVariables } from "./variables.ts";

const service = (name: string, spec: object, namespace = "default") =>
  ({ metadata: { name, namespace }, spec: { clusterIP: "10.96.0.7", ...spec } }) as unknown as ApiObject;

const HTTP = { name: "http", port: 80 };
const METRICS = { name: "metrics", port: 9090, protocol: "TCP" };

describe("the ports of a Service", () => {
  it("are those that speak TCP", () => {
    const ports = portsOf(service("dns", { ports: [{ port: 53, protocol: "UDP" }, HTTP, METRICS] }));
    expect(ports.map(({ port }) => port)).toEqual([80, 9090]);
  });

  it("have each a place on this machine under all names of the Service", () => {
    const ports = [service("web", { ports: [HTTP] }), service("db", { ports: [METRICS] }, "data")].flatMap(portsOf);
    const table = hostTable(ports, "default", ({ port }) => port + 40_000);
    expect(table).toEqual({
      "web:80": 40_080,
      "web.default:80": 40_080,
      "web.default.svc:80": 40_080,
      "web.default.svc.cluster.local:80": 40_080,
      "db.data:9090": 49_090,
      "db.data.svc:9090": 49_090,
      "db.data.svc.cluster.local:9090": 49_090,
    });
    expect(hostTable(ports, "default", () => undefined)).toEqual({});
  });
});

describe("the variables of Services", () => {
  const told = (...services: ApiObject[]) =>
    serviceVariables(services.flatMap(portsOf), "default", "127.0.0.1", ({ port }) => port + 40_000);

  it("tell the first port of each, and all of them by name and by number", () => {
    expect(told(service("my-web", { ports: [HTTP, METRICS] }))).toEqual({
      MY_WEB_SERVICE_HOST: "127.0.0.1",
      MY_WEB_SERVICE_PORT: "40080",
      MY_WEB_SERVICE_PORT_HTTP: "40080",
      MY_WEB_SERVICE_PORT_METRICS: "49090",
      MY_WEB_PORT: "tcp://127.0.0.1:40080",
      MY_WEB_PORT_80_TCP: "tcp://127.0.0.1:40080",
      MY_WEB_PORT_80_TCP_PROTO: "tcp",
      MY_WEB_PORT_80_TCP_PORT: "40080",
      MY_WEB_PORT_80_TCP_ADDR: "127.0.0.1",
      MY_WEB_PORT_9090_TCP: "tcp://127.0.0.1:49090",
      MY_WEB_PORT_9090_TCP_PROTO: "tcp",
      MY_WEB_PORT_9090_TCP_PORT: "49090",
      MY_WEB_PORT_9090_TCP_ADDR: "127.0.0.1",
    });
  });

  it("leave out what has no address, is elsewhere, or is the API server", () => {
    const headless = service("headless", { clusterIP: "None", ports: [HTTP] });
    expect(
      told(headless, service("far", { ports: [HTTP] }, "other"), service("kubernetes", { ports: [HTTP] })),
    ).toEqual({});
  });
});

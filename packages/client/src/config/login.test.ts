import { describe, expect, it } from "vitest";
import { Client } from "../client/index.ts";
import { answer, TestServer } from "../fixtures/index.ts";
import { VirtualClock } from "../meta/index.ts";
import { openAccess } from "./access.ts";
import type { Login } from "./contract.ts";
import { LoginCredentials } from "./login.ts";

const soon = (clock: VirtualClock, ms: number) => new Date(clock.now() + ms);

describe("credentials that a program brings", () => {
  it("are tried from the highest priority down when the server refuses them", async () => {
    const logins: Login[] = [{ token: "second", priority: 1 }, { token: "first", priority: 2 }, { token: "third" }];
    await using server = await TestServer.start(({ headers }, response) => {
      if (headers.authorization === "Bearer third") answer(response, 200, { gitVersion: "v1.36.0" });
      else answer(response, 401, { kind: "Status", reason: "Unauthorized", code: 401, message: "who are you?" });
    });
    await using client = await Client.connect({ login: () => logins.map((one) => ({ ...one, server: server.url })) });
    expect(await client.version()).toMatchObject({ gitVersion: "v1.36.0" });
    expect(server.seen.map(({ headers }) => headers.authorization)).toEqual([
      "Bearer first",
      "Bearer second",
      "Bearer third",
    ]);
    await client.version();
    expect(server.seen).toHaveLength(4);
  });

  it("are asked for again when they expire, once for all who wait", async () => {
    const clock = new VirtualClock();
    let asked = 0;
    const credentials = new LoginCredentials(() => ({ token: `t${++asked}`, expires: soon(clock, 30_000) }), clock);
    const identities = await Promise.all([credentials.current(), credentials.current()]);
    expect(identities.map(({ authorization }) => authorization)).toEqual(["Bearer t1", "Bearer t1"]);
    await clock.advance(31_000);
    expect((await credentials.current()).authorization).toBe("Bearer t2");
    expect(asked).toBe(2);
  });

  it("are not taken again once the server has refused them", async () => {
    let asked = 0;
    const credentials = new LoginCredentials(() => {
      asked++;
      return { token: "stale" };
    }, new VirtualClock());
    expect(await credentials.renew(await credentials.current())).toBe(false);
    await expect(credentials.current()).rejects.toThrow("no credentials that the server has not refused");
    expect(asked).toBe(3);
  });

  it("are kept when a late answer is about older ones", async () => {
    const tokens = ["old", "new"];
    const credentials = new LoginCredentials(() => ({ token: tokens.shift() ?? "newest" }), new VirtualClock());
    const old = await credentials.current();
    expect(await credentials.renew(old)).toBe(true);
    expect(await credentials.renew(old)).toBe(true);
    expect((await credentials.current()).authorization).toBe("Bearer new");
  });

  it("may be a user name and password, another scheme, or certificates that are PEM or base64 of it", async () => {
    const clock = new VirtualClock();
    const of = async (login: Login) => await new LoginCredentials(() => login, clock).current();
    expect((await of({ username: "ann", password: "pw" })).authorization).toBe("Basic YW5uOnB3");
    expect((await of({ scheme: "Negotiate", token: "x" })).authorization).toBe("Negotiate x");
    expect((await of({ scheme: "Anonymous" })).authorization).toBe("Anonymous");
    const text = "-----BEGIN CERTIFICATE-----\nMII\n-----END CERTIFICATE-----\n";
    const encoded = Buffer.from(text).toString("base64");
    const { tls } = await of({ cert: text, key: encoded, ca: Buffer.from(text), insecureSkipTlsVerify: true });
    expect(tls).toEqual({ ca: text, cert: text, key: text, rejectUnauthorized: false });
  });

  it("that contradict themselves are refused with a word on what to do", async () => {
    const clock = new VirtualClock();
    const both = new LoginCredentials(() => ({ token: "t", username: "ann" }), clock);
    await expect(both.current()).rejects.toThrow("not both");
    const never = new LoginCredentials(() => ({ token: "t", expires: "tomorrow" }), clock);
    await expect(never.current()).rejects.toThrow("is no time");
    await expect(openAccess({ login: () => [] })).rejects.toThrow("brought no credentials");
    const two = () => [{ server: "https://a" }, { server: "https://b" }];
    await expect(openAccess({ login: two })).rejects.toThrow("different servers");
  });

  it("are used with the server of the configuration when they name none", async () => {
    const kubeconfig = {
      "current-context": "main",
      contexts: [{ name: "main", context: { cluster: "main", user: "me", namespace: "team" } }],
      clusters: [{ name: "main", cluster: { server: "https://main" } }],
      users: [{ name: "me", user: { token: "of the file" } }],
    };
    const access = await openAccess({ kubeconfig, login: () => ({ token: "own", proxyUrl: "http://proxy:3128" }) });
    expect(access).toMatchObject({ server: "https://main", namespace: "team", proxyUrl: "http://proxy:3128" });
    expect((await access.credentials.current()).authorization).toBe("Bearer own");
  });
});

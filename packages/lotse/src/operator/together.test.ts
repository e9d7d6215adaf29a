/** Operators of one process whose requests come in by one port. */
import { request } from "node:https";
import { createServer } from "node:net";
import { Client, ConfigMap, Namespace, Secret, ValidatingWebhookConfiguration } from "@lotse/client";
import { systemClock } from "@lotse/client/meta";
import { Cluster } from "@lotse/cluster";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { localCertificates } from "../admission/index.ts";
import { AdmissionError, type WebhookOptions } from "../declare/index.ts";
import { Logger, type LogRecord } from "../report/index.ts";
import { Operator } from "./operator.ts";
import type { RunningOperator } from "./options.ts";
import { Together, type TogetherOptions } from "./together.ts";
import { WebhookHost, type WebhookMember } from "./webhook-host.ts";

const SYSTEM = "harbour-system";

describe("operators of one process", () => {
  let cluster: Cluster;
  let client: Client;
  let tests = 0;
  let logs: LogRecord[] = [];
  const ending: RunningOperator[] = [];

  beforeAll(async () => {
    cluster = await Cluster.start({ tls: false });
    client = await Client.connect({ kubeconfig: cluster.kubeconfig as never });
    await client.create(Namespace.gen({ name: SYSTEM }));
  });

  beforeEach(() => {
    tests++;
    logs = [];
  });

  afterEach(async () => {
    await Promise.all(ending.splice(0).map((one) => one.stop()));
    for await (const one of client.list(ValidatingWebhookConfiguration)) await one.delete();
  });

  afterAll(async () => {
    await client?.close();
    await cluster?.stop();
  });

  const named = (letter: string) => `op-${letter}-${tests}`;

  /** One that refuses objects of its own label, by a handler that all of them have. */
  function judge(letter: string): Operator {
    const name = named(letter);
    const operator = new Operator({ name, settings: { posting: { events: "none" } } });
    operator.on.validate(ConfigMap, { labels: { of: name } }, function check({ labels }) {
      if (labels.wrong !== undefined) throw new AdmissionError(`${name} says no`);
    });
    return operator;
  }

  function start(operators: readonly Operator[], webhooks: WebhookOptions): RunningOperator[] {
    const together = new Together(operators);
    const running = operators.map((operator) => {
      const options: TogetherOptions = { client, log: (line) => void logs.push(line), webhooks, together };
      return operator.start(options);
    });
    ending.push(...running);
    return running;
  }

  const ports = () =>
    logs.filter(({ message }) => message === "the webhook server listens").map(({ fields }) => fields.port as number);
  const refusal = (letter: string) =>
    client.create(ConfigMap.gen({ generateName: "x-", labels: { of: named(letter), wrong: "yes" } })).then(
      () => "none",
      (error: Error) => error.message,
    );
  const ready = (all: readonly RunningOperator[]) => Promise.all(all.map((one) => one.ready));

  it("share a port, and each is asked what is its own", async () => {
    const port = await freePort();
    await ready(start([judge("a"), judge("b")], { port, host: "127.0.0.1" }));
    expect(ports()).toEqual([port, port]);
    expect(await refusal("a")).toContain(`${named("a")} says no`);
    expect(await refusal("b")).toContain(`${named("b")} says no`);
    const { body } = await client.get(ValidatingWebhookConfiguration, `${named("b")}.lotse.dev`);
    expect(body.webhooks?.[0]?.clientConfig.url).toBe(`https://127.0.0.1:${port}/${named("b")}/validate/check`);
  });

  it("go one by one, and the port with the last", async () => {
    const [a, b] = start([judge("a"), judge("b")], { port: 0, host: "127.0.0.1" });
    await ready([a, b] as RunningOperator[]);
    await a?.stop();
    expect(await refusal("a")).toBe("none");
    expect(await refusal("b")).toContain(`${named("b")} says no`);
    expect(b?.health().webhooks).toMatchObject({ serving: true });
    await b?.stop();
    await vi.waitFor(() => expect(freePort(ports()[0])).resolves.toBe(ports()[0]), 60_000);
  });

  it("have one certificate behind one Service, in the Secret of the first by name", async () => {
    const service = { namespace: SYSTEM, name: `harbour-${tests}` };
    // Whichever is the first to start: another replica may have another order.
    await ready(start([judge("b"), judge("a")], { port: 0, host: "127.0.0.1", service }));
    cluster.services.route(`${SYSTEM}/${service.name}`, ports()[0] ?? 0);
    expect(await refusal("a")).toContain(`${named("a")} says no`);
    expect(await refusal("b")).toContain(`${named("b")} says no`);
    const secrets = await client.list(Secret, { namespace: SYSTEM }).toArray();
    expect(secrets.map(({ name, labels }) => [name, labels["lotse.dev/webhook-certificates"]])).toContainEqual([
      `${named("a")}-webhooks`,
      named("a"),
    ]);
    expect(secrets.map(({ name }) => name)).not.toContain(`${named("b")}-webhooks`);
  });

  it("have each its own certificate where each has its own Service", async () => {
    const own = (letter: string) => {
      const service = { namespace: SYSTEM, name: `${named(letter)}-webhooks` };
      const operator = new Operator({
        name: named(letter),
        settings: { posting: { events: "none" } },
        webhooks: { port: 0, host: "127.0.0.1", service },
      });
      operator.on.validate(ConfigMap, { labels: { of: operator.name } }, function check() {
        throw new AdmissionError(`${operator.name} says no`);
      });
      return operator;
    };
    await ready(start([own("a"), own("b")], {}));
    const [port = 0, another] = ports();
    expect(another).toBe(port);
    for (const letter of ["a", "b"]) cluster.services.route(`${SYSTEM}/${named(letter)}-webhooks`, port);
    expect(await refusal("a")).toContain(`${named("a")} says no`);
    expect(await refusal("b")).toContain(`${named("b")} says no`);
    const secrets = (await client.list(Secret, { namespace: SYSTEM }).toArray()).map(({ name }) => name);
    expect(secrets).toEqual(expect.arrayContaining([`${named("a")}-webhooks`, `${named("b")}-webhooks`]));
  });

  it("that cannot have the port are all told so", async () => {
    const taken = createServer();
    const port = await new Promise<number>((resolve) => {
      taken.listen(0, "127.0.0.1", () => resolve((taken.address() as { port: number }).port));
    });
    const running = start([judge("a"), judge("b")], { port, host: "127.0.0.1" });
    for (const one of running) {
      await expect(one.ready).rejects.toThrow(`cannot listen on 127.0.0.1, port ${port}: it is taken`);
      await one.stopped.catch(() => undefined);
    }
    ending.length = 0;
    await new Promise((resolve) => taken.close(resolve));
  });
});

describe("a server of several operators", () => {
  const logger = new Logger(
    () => {},
    () => 0,
  );

  const member = (operator: string, ...paths: string[]): WebhookMember => ({
    operator,
    route: (path) => (path.startsWith("/validate/") ? {} : undefined),
    knows: (path) => paths.includes(path),
    handle: async (_request, path) => ({ status: 200, body: { operator, path } }),
    readiness: () => (operator === "tired" ? { ok: false, reasons: ["sleeps"] } : { ok: true, reasons: [] }),
    onProblem: () => {},
    answered: () => {},
  });

  async function served(...members: WebhookMember[]) {
    const host = new WebhookHost({ host: "127.0.0.1", port: 0, clock: systemClock });
    const signal = new AbortController().signal;
    const common = { names: ["127.0.0.1"], clock: systemClock, random: Math.random, logger, signal };
    const certificates = localCertificates(common);
    await certificates.ready;
    const seats = await Promise.all(members.map((one) => host.join(one, certificates, common.names)));
    return {
      ask: (path: string, method = "POST") => ask(seats[0]?.port ?? 0, path, method),
      close: async () => {
        await Promise.all(seats.map((seat) => seat.leave(0)));
        await certificates.stop();
      },
    };
  }

  it("asks by name, else who has the handler, and says when two have it", async () => {
    const { ask: asked, close } = await served(
      member("zoo", "/validate/check", "/validate/both"),
      member("validate", "/validate/both", "/validate/alone"),
    );
    expect(await asked("/zoo/validate/check")).toEqual([200, { operator: "zoo", path: "/validate/check" }]);
    expect(await asked("/validate/validate/check")).toEqual([200, { operator: "validate", path: "/validate/check" }]);
    expect(await asked("/validate/alone")).toEqual([200, { operator: "validate", path: "/validate/alone" }]);
    expect(await asked("/validate/both")).toMatchObject([
      404,
      {
        message:
          "zoo and validate have a handler at /validate/both: ask at /zoo/validate/both or /validate/validate/both",
      },
    ]);
    expect((await asked("/nobody/validate/check"))[0]).toBe(404);
    expect((await asked("/elsewhere"))[0]).toBe(404);
    await close();
  });

  it("is ready when all of them are, and says who is not", async () => {
    const { ask: asked, close } = await served(member("zoo"), member("tired"));
    expect(await asked("/readyz", "GET")).toMatchObject([503, { message: "tired: sleeps" }]);
    await close();
  });
});

function ask(port: number, path: string, method: string): Promise<[number, unknown]> {
  return new Promise((resolve, reject) => {
    const headers = method === "POST" ? { "content-type": "application/json" } : {};
    const sent = request({ host: "127.0.0.1", port, path, method, headers, rejectUnauthorized: false }, (response) => {
      let text = "";
      response.on("data", (chunk) => {
        text += chunk;
      });
      response.on("end", () => resolve([response.statusCode ?? 0, JSON.parse(text)]));
    });
    sent.on("error", reject);
    sent.end(method === "POST" ? "{}" : undefined);
  });
}

/** A port on which nothing listens; rejects when `port` is taken. */
function freePort(port = 0): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once("error", reject);
    server.listen(port, "127.0.0.1", () => {
      const { port: found } = server.address() as { port: number };
      server.close(() => resolve(found));
    });
  });
}

/** What a version of an operator has told the API server, and what the next one makes of it. */
import {
  Client,
  ConfigMap,
  type KubeBody,
  Lease,
  MutatingWebhookConfiguration,
  Namespace,
  NotFoundError,
  ValidatingAdmissionPolicy,
  ValidatingAdmissionPolicyBinding,
  ValidatingWebhookConfiguration,
} from "@lotse/client";
import { VirtualClock } from "@lotse/client/meta";
import { Cluster } from "@lotse/cluster";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import type { LogRecord } from "../report/index.ts";
import { Operator } from "./operator.ts";
import type { RunningOperator, StartOptions } from "./options.ts";

const SYSTEM = "zoo-system";
const REGISTERED = [
  ValidatingWebhookConfiguration,
  MutatingWebhookConfiguration,
  ValidatingAdmissionPolicyBinding,
  ValidatingAdmissionPolicy,
];

describe("what a former version of the operator has registered", () => {
  let cluster: Cluster;
  let client: Client;
  let tests = 0;
  let name = "";
  let logs: LogRecord[] = [];
  const ending: RunningOperator[] = [];

  beforeAll(async () => {
    cluster = await Cluster.start({ tls: false });
    client = await Client.connect({ kubeconfig: cluster.kubeconfig as never });
    await client.create(Namespace.gen({ name: SYSTEM }));
  });

  beforeEach(() => {
    name = `op-${++tests}`;
    logs = [];
  });

  afterEach(async () => {
    await Promise.all(ending.splice(0).map((one) => one.stop()));
    // What carries the marks of one test's operator is told of by the next one's.
    for await (const one of client.list(ConfigMap, { labelSelector: "of" })) await one.delete();
    for (const kind of REGISTERED)
      for await (const one of client.list(kind as never)) await (one as KubeBody & typeof one).delete();
  });

  afterAll(async () => {
    await client?.close();
    await cluster?.stop();
  });

  const told = (message: string) => logs.filter((line) => line.message === message).map(({ fields }) => fields);
  const eventually = (check: () => unknown) => vi.waitFor(check, { timeout: 170_000, interval: 20 });
  const REMOVED = "what a former version of the operator has registered is removed";

  async function start(declare: (operator: Operator) => void, options: StartOptions = {}) {
    const operator = new Operator({ name, settings: { posting: { events: "none" } } });
    operator.on.create(ConfigMap, { labels: { of: name } }, function greet() {});
    declare(operator);
    const running = operator.start({
      client,
      log: (line) => void logs.push(line),
      webhooks: { port: 0, service: { namespace: SYSTEM, name } },
      ...options,
    });
    ending.push(running);
    await running.ready;
    return running;
  }

  const judging = (operator: Operator) => {
    operator.on.validate(ConfigMap, { labels: { of: name } }, function check() {});
    operator.on.mutate(ConfigMap, { labels: { of: name } }, function fill() {});
    operator.policy(ConfigMap, { id: "small", labels: { of: name }, rules: [{ expression: "true" }] });
  };
  const nothing = () => {};

  /** The former version: it has run, and is gone. */
  async function former(declare = judging) {
    const running = await start(declare);
    expect(await registered()).not.toEqual([]);
    await running.stop();
    logs = [];
    return running;
  }

  async function registered(): Promise<string[]> {
    const found = await Promise.all(
      REGISTERED.map((kind) => client.list(kind as never, { labelSelector: { "lotse.dev/operator": name } }).toArray()),
    );
    return found.flatMap((list, at) => list.map(() => REGISTERED[at]?.description.kind ?? ""));
  }

  const noted = () => client.get(Lease, `${name}-registered`);
  /** What the operator has asked for since, about what is registered. */
  const asked = (since: number) =>
    cluster.requests
      .filter({})
      .slice(since)
      .filter(({ path }) => /admissionregistration|-registered/.test(path))
      .map(({ verb, path }) => `${verb} ${path.replace(/.*\//, "")}`);

  it("is removed by one that judges nothing, and then forgotten", async () => {
    await former();
    expect(await registered()).toEqual(REGISTERED.map(({ description }) => description.kind));
    const clock = new VirtualClock();
    await start(nothing, { clock });
    await eventually(async () => expect(await registered()).toEqual([]));
    expect(told(REMOVED)).toHaveLength(4);
    // Requests pass: nothing asks a server that is gone.
    await client.create(ConfigMap.gen({ name: `${name}-passes`, labels: { of: name } }));
    await eventually(async () => {
      await clock.advance(15 * 60_000);
      await expect(noted()).rejects.toThrow(NotFoundError);
    });
  });

  it("costs one request where there is nothing of it", async () => {
    const before = cluster.requests.filter({}).length;
    await start(nothing);
    await eventually(() => expect(asked(before)).toEqual([`get ${name}-registered`]));
    expect(logs.filter(({ level }) => level === "warn" || level === "error")).toEqual([]);
  });

  it("is left alone, in silence, where the role does not allow to look", async () => {
    await former();
    using _ = cluster.faults.add({ match: { verb: "get", resource: "leases.coordination.k8s.io" }, status: 403 });
    const before = cluster.requests.filter({}).length;
    const running = await start(nothing);
    await eventually(() => expect(asked(before)).toHaveLength(1));
    expect(running.health().phase).toBe("ready");
    expect(logs.filter(({ level }) => level === "warn" || level === "error")).toEqual([]);
  });

  it("is told with what removes it where the role does not allow to remove it", async () => {
    await former();
    const { group, plural } = ValidatingAdmissionPolicy.description;
    using _ = cluster.faults.add({ match: { verb: "get", resource: `${plural}.${group}` }, status: 403 });
    const running = await start(nothing);
    await eventually(() =>
      expect(told("what a former version of the operator has registered may still be there")).toEqual([
        expect.objectContaining({
          registered: `${plural}.v1.${group}/small.${name}.lotse.dev`,
          hint: expect.stringMatching(
            new RegExp(`^remove it: kubectl delete --ignore-not-found -n default lease/${name}-registered .*${plural}`),
          ),
        }),
      ]),
    );
    expect(await registered()).toEqual(["ValidatingAdmissionPolicy"]);
    expect(running.health().phase).toBe("ready");
    // The next start tells it once more.
    await noted();
  });

  it("is removed again when a process that is on its way out has put it back", async () => {
    await start(judging);
    const clock = new VirtualClock();
    await start(nothing, { clock });
    await eventually(() => expect(told(REMOVED)).toHaveLength(4));
    // Of the former version, which still runs.
    await eventually(async () => expect(await registered()).toHaveLength(4));
    const [old] = ending.splice(0, 1);
    await old?.stop();
    await eventually(async () => {
      await clock.advance(10_000);
      expect(await registered()).toEqual([]);
    });
  });

  it("is not fought for for ever with another process of the same name", async () => {
    const clock = new VirtualClock();
    await start(judging, { clock });
    await start(nothing, { clock });
    const FIGHT =
      "another process of this operator keeps registering what this version does not have, it is left alone";
    await eventually(async () => {
      // The other process puts it back after a pause that grows; only when all is back, it is looked for again.
      await clock.advance(1_000);
      expect(await registered()).toHaveLength(4);
      await clock.advance(15 * 60_000);
      expect(told(FIGHT)).toHaveLength(1);
    });
    await noted();
  });

  it("is removed by one that judges less", async () => {
    await former();
    await start((operator) => {
      operator.policy(ConfigMap, { id: "small", labels: { of: name }, rules: [{ expression: "true" }] });
    });
    await eventually(async () =>
      expect(await registered()).toEqual(["ValidatingAdmissionPolicyBinding", "ValidatingAdmissionPolicy"]),
    );
  });

  it("is not what carries its name and another mark", async () => {
    await former((operator) => operator.on.validate(ConfigMap, { labels: { of: name } }, function check() {}));
    const theirs = { metadata: { labels: { "lotse.dev/operator": "another" } } };
    await client.patch(ValidatingWebhookConfiguration, `${name}.lotse.dev`, theirs as never);
    const before = cluster.requests.filter({}).length;
    await start(nothing);
    await eventually(() => expect(asked(before)).toContain(`get ${name}.lotse.dev`));
    await client.get(ValidatingWebhookConfiguration, `${name}.lotse.dev`);
  });

  it("is gone with the process at whose address nothing answers, and so is the note", async () => {
    const running = await start(
      (operator) => operator.on.validate(ConfigMap, { labels: { of: name } }, function check() {}),
      { webhooks: { port: 0, url: "https://127.0.0.1:1" } },
    );
    await noted();
    await running.stop();
    await expect(noted()).rejects.toThrow(NotFoundError);
  });

  it("is none of the business of one that is told to register nothing", async () => {
    await former();
    const before = cluster.requests.filter({}).length;
    const running = await start(nothing, { webhooks: { register: false } });
    await running.stop();
    expect(asked(before)).toEqual([]);
  });
});

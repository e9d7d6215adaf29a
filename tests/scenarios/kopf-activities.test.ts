import { type Client, ConfigMap, type Login } from "@lotse/client";
import { VirtualClock } from "@lotse/client/meta";
import { type LogRecord, type Memo, Operator, PermanentError } from "lotse";
import { beforeEach, expect, it } from "vitest";
import { clustersUnderTest, describeOn } from "../fixture.ts";
import { useStage } from "./stage.ts";

describeOn(clustersUnderTest(), "an operator's own handlers", (cluster) => {
  const stage = useStage(cluster, "activities");
  const { start, eventually, quiet, running } = stage;
  let client: Client;

  beforeEach(() => {
    ({ client } = stage);
  });

  const mine = { labels: { mine: "yes" } } as const;
  const put = (name: string) => client.create(ConfigMap.gen({ name, ...mine }));

  /** What the test cluster's kubeconfig says, as a login. */
  function admin(): Login {
    const { clusters, users } = cluster().kubeconfig as {
      clusters: { cluster: { server: string; "certificate-authority-data"?: string } }[];
      users: { user: { token?: string; "client-certificate-data"?: string; "client-key-data"?: string } }[];
    };
    const [target, who] = [clusters[0]?.cluster, users[0]?.user];
    return {
      server: target?.server,
      ca: target?.["certificate-authority-data"],
      token: who?.token,
      cert: who?.["client-certificate-data"],
      key: who?.["client-key-data"],
    };
  }

  it("of login bring the credentials instead of the configuration, and several are asked", async () => {
    const operator = new Operator({ name: "op" });
    const seen: string[] = [];
    operator.on.login(function nobody() {
      seen.push("nobody");
      return undefined;
    });
    operator.on.login(async function vault({ retry }) {
      seen.push(`vault ${retry}`);
      return admin();
    });
    operator.on.create(ConfigMap, { id: "found", ...mine }, ({ name }) => void seen.push(name));
    const one = operator.start({ namespaces: [stage.namespace], log: () => {} });
    running.push(one);
    await one.ready;
    expect(seen).toEqual(["nobody", "vault 0"]);
    await put("one");
    await eventually(() => expect(seen).toEqual(["nobody", "vault 0", "one"]));
  });

  it("of probes answer by their ids, for ten seconds, and once for all who ask at the same time", async () => {
    const clock = new VirtualClock();
    const operator = new Operator({ name: "op" });
    let asked = 0;
    let broken = false;
    operator.on.probe(async function queue() {
      return { length: ++asked };
    });
    operator.on.probe({ id: "disk", errors: "permanent" }, () => {
      if (broken) throw new Error("the disk is full");
      return "ok";
    });
    const one = await start(operator, { clock });
    const both = await Promise.all([one.probe(), one.probe()]);
    expect(both).toEqual([
      { queue: { length: 1 }, disk: "ok" },
      { queue: { length: 1 }, disk: "ok" },
    ]);
    await clock.advance(9_999);
    expect(await one.probe()).toMatchObject({ queue: { length: 1 } });
    await clock.advance(1);
    expect(await one.probe()).toMatchObject({ queue: { length: 2 } });
    broken = true;
    await clock.advance(10_000);
    await expect(one.probe()).rejects.toThrow("the disk is full");
  });

  it("get the settings, the operator's memo, their param, the indexes, and which of them they are", async () => {
    const operator = new Operator({ name: "op" });
    const seen: unknown[] = [];
    const names = operator.index(ConfigMap, { id: "names", ...mine }, ({ name }) => name);
    for (const on of ["startup", "probe", "cleanup"] as const) {
      operator.on[on]({ id: on, param: `param of ${on}` }, ({ activity, param, settings, memo, indexes, retry }) => {
        memo.calls = ((memo.calls as number | undefined) ?? 0) + 1;
        const { graceful } = settings.process;
        seen.push([activity, param, graceful, memo.calls, retry, [...indexes(names).get(null)]]);
      });
    }
    await put("one");
    const one = await start(operator);
    await one.probe();
    await one.stop();
    expect(seen).toEqual([
      ["startup", "param of startup", "10s", 1, 0, []],
      ["probe", "param of probe", "10s", 2, 0, ["one"]],
      ["cleanup", "param of cleanup", "10s", 3, 0, ["one"]],
    ]);
  });

  it("leave notes from which each object's own begin, as a shallow copy", async () => {
    const operator = new Operator({ name: "op" });
    const seen: unknown[] = [];
    const shared: string[] = [];
    operator.on.startup(({ memo }) => {
      memo.shared = shared;
      memo.count = 5;
    });
    operator.on.create(ConfigMap, { id: "count", ...mine }, ({ memo, name }) => {
      memo.count = (memo.count as number) + 1;
      (memo.shared as string[]).push(name);
      seen.push(memo.count);
    });
    await start(operator);
    await put("one");
    await eventually(() => expect(seen).toEqual([6]));
    await put("two");
    await eventually(() => expect(seen).toEqual([6, 6]));
    expect(shared).toEqual(["one", "two"]);
  });

  it("may share notes of a class of its own, which decides what each object gets", async () => {
    class Notes {
      [key: string]: unknown;
      readonly of: string;
      constructor(of: string) {
        this.of = of;
      }
      clone(): Memo {
        return new Notes(`copy of ${this.of}`);
      }
    }
    const everybodys: Memo = { seen: [] as string[], clone: () => everybodys };
    const operator = new Operator({ name: "op" });
    const seen: unknown[] = [];
    operator.on.create(ConfigMap, { id: "look", ...mine }, ({ memo }) => {
      seen.push(memo instanceof Notes ? memo.of : memo === everybodys);
    });
    const first = await start(operator, { memo: new Notes("the operator") });
    await put("one");
    await eventually(() => expect(seen).toEqual(["copy of the operator"]));
    await quiet();
    await first.stop();
    await start(operator, { memo: everybodys });
    await put("two");
    await eventually(() => expect(seen).toEqual(["copy of the operator", true]));
  });

  it("of startup that fail for good fail the operator, and no handler of an object has run", async () => {
    const operator = new Operator({ name: "op" });
    const seen: string[] = [];
    operator.on.startup(() => {
      throw new PermanentError("no database");
    });
    operator.on.create(ConfigMap, { id: "never", ...mine }, () => void seen.push("create"));
    await put("one");
    const one = operator.start({ client, log: () => {} });
    await expect(one.stopped).rejects.toThrow("no database");
    expect(seen).toEqual([]);
  });

  it("are named with their place and the cause when they fail, in the error and in the log", async () => {
    const operator = new Operator({ name: "op" });
    operator.on.startup({ errors: "permanent" }, async function connectDatabase() {
      throw new TypeError("fetch failed", { cause: new Error("connect ECONNREFUSED 127.0.0.1:1") });
    });
    const lines: LogRecord[] = [];
    const one = operator.start({ client, log: (line) => void lines.push(line) });
    const why = "fetch failed: connect ECONNREFUSED 127.0.0.1:1";
    await expect(one.stopped).rejects.toThrow(
      /^the startup handler connectDatabase \(\S*kopf-activities\.test\.ts:\d+\) failed for good: fetch failed: connect/,
    );
    const [line] = lines.filter(({ message }) => message === "startup handler failed for good");
    expect(line?.fields).toMatchObject({
      handler: "connectDatabase",
      at: expect.stringMatching(/kopf-activities\.test\.ts:\d+$/),
      error: why,
      stack: expect.stringContaining("TypeError"),
    });
  });
});

import { ConfigMap, Pod, Secret } from "@lotse/client";
import { Operator, resource, TemporaryError } from "lotse";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { REAL, type Shadowed, shareServer, startBeside } from "./beside.ts";

const Box = resource({
  group: "shadow.example.com",
  version: "v1",
  kind: "Box",
  spec: z.object({ size: z.number().default(1) }),
  status: z.object({ size: z.number().optional(), child: z.string().optional(), uid: z.string().optional() }),
});

const box = (name: string, size = 1) => new Box({ metadata: { name }, spec: { size } });
const boxes = () => new Operator({ name: "boxes", crds: "install" });

/** Makes a child with a generated name, and writes its name and uid down. */
function generating(data: Record<string, string> = {}): Operator {
  const operator = boxes();
  operator.on.create(Box, async function make({ name, adopt, client, patch, warn }) {
    const child = adopt(ConfigMap.gen({ generateName: `${name}-`, data: { of: name, ...data } }));
    const { name: made, uid = "" } = await client.create(child);
    warn("Made", "an Event that a shadow does not post");
    patch.status.child = made;
    patch.status.uid = uid;
  });
  return operator;
}

/** Keeps as many children as the box is large. */
function keeping(size = (wanted: number) => wanted): Operator {
  const operator = boxes();
  operator.children(Box, { owns: [ConfigMap] }, function keep({ spec, name }) {
    return Array.from({ length: size(spec.size ?? 1) }, (_, i) =>
      ConfigMap.gen({ name: `${name}-${i}`, data: { i: `${i}` } }),
    );
  });
  return operator;
}

/** The differences about children. */
const ofChildren = (shadow: Shadowed) => told(shadow).filter((line) => !line.includes(" Box "));

const told = ({ report }: Shadowed) =>
  report().differences.map(({ verdict, kind, name, fields }) =>
    [verdict, kind, name, ...fields.map(({ path }) => path)].join(" "),
  );

shareServer();

const AGREED = { differences: [], undecided: [], untried: [], unsettled: 0 };

describe("a shadow", () => {
  it("may be faster than the version that works: its objects have other names until then", async () => {
    await using both = await startBeside(generating());
    await (await both.work()).stop();
    const equal = await both.shadow(generating());
    const other = await both.shadow(generating({ more: "yes" }));
    await both.client.create(box("one"));
    await both.quiet();
    expect((await both.client.list(ConfigMap).toArray()).filter(({ data }) => data.of)).toEqual([]);
    await both.work();
    await both.settle();
    expect(equal.report()).toMatchObject(AGREED);
    const { status } = await both.client.get(Box, "one");
    expect(told(other)).toEqual([`would-change ConfigMap ${status?.child} data.more`]);
  });

  it("handles a change as often as the version that works, and sees what it wrote", async () => {
    let runs = 0;
    const counting = () => {
      const operator = boxes();
      operator.reconcile(Box, async function count({ spec, status, patch }) {
        runs++;
        if (status.size !== spec.size) patch.status.size = spec.size ?? 0;
      });
      return operator;
    };
    await using both = await startBeside(counting());
    await both.work();
    await both.client.create(box("one"));
    await both.settle();
    const alone = runs;
    const shadow = await both.shadow(counting(), { fromScratch: true });
    await both.settle();
    await both.advance(60_000);
    expect(runs - alone).toBe(alone);
    expect(shadow.report()).toMatchObject(AGREED);
  });

  it("sees at once what others write, also on the children", async () => {
    const mirroring = (prefix = "") => {
      const operator = boxes();
      operator.reconcile(
        Box,
        { owns: [ConfigMap] },
        async function mirror({ object, name, list, client, adopt, patch }) {
          const [child] = await list(ConfigMap, { ownedBy: object });
          if (!child) await client.create(adopt(ConfigMap.gen({ name, data: { key: "a" } })));
          else patch.status.child = `${prefix}${child.labels.word ?? ""}`;
        },
      );
      return operator;
    };
    await using both = await startBeside(mirroring());
    await both.work();
    const equal = await both.shadow(mirroring());
    const other = await both.shadow(mirroring("the "));
    await both.client.create(box("one"));
    await both.quiet();
    await (await both.client.get(ConfigMap, "one")).label({ word: "hello" });
    await both.settle();
    expect((await both.client.get(Box, "one")).status?.child).toBe("hello");
    expect(equal.report()).toMatchObject(AGREED);
    expect(other.report().differences).toMatchObject([
      { kind: "Box", fields: [{ path: "status.child", is: "hello", would: "the hello" }], handlers: ["mirror"] },
    ]);
  });

  it("finds children that are missing, too many, deleted or made again", async () => {
    await using both = await startBeside(keeping());
    await both.work();
    const equal = await both.shadow(keeping());
    const fewer = await both.shadow(keeping((size) => size - 1));
    const more = await both.shadow(keeping((size) => size + 1));
    await both.client.create(box("one", 2));
    await both.settle();
    expect(equal.report()).toMatchObject(AGREED);
    expect(ofChildren(fewer)).toEqual(["would-not-create ConfigMap one-1"]);
    expect(ofChildren(more)).toEqual(["would-create ConfigMap one-2"]);
    expect(more.report().differences.at(-1)).toMatchObject({
      handlers: ["keep"],
      objects: [{ kind: "Box", name: "one" }],
    });
    // The box itself says how many there are.
    for (const { report } of [fewer, more]) {
      const paths = report()
        .differences.find(({ kind }) => kind === "Box")
        ?.fields.map(({ path }) => path);
      expect(paths).toContain("status.conditions[type=Ready].message");
    }
    // Somebody deletes a child, and both versions repair it.
    await (await both.client.get(ConfigMap, "one-0")).delete();
    await both.settle();
    expect(equal.report()).toMatchObject(AGREED);
    // Somebody changes one, and both versions repair that.
    await both.client.patch(ConfigMap, "one-0", { data: { i: "changed" } }, { fieldManager: "kubectl" });
    await both.settle();
    expect((await both.client.get(ConfigMap, "one-0")).data).toEqual({ i: "0" });
    expect(equal.report()).toMatchObject(AGREED);
    // A box that shrinks loses a child in every version.
    await both.client.patch(Box, "one", { spec: { size: 1 } });
    await both.settle();
    expect(equal.report()).toMatchObject(AGREED);
    expect(ofChildren(fewer)).toEqual(["would-delete ConfigMap one-0"]);
    expect(ofChildren(more)).toEqual(["would-create ConfigMap one-1"]);
    // With the box everything goes, and nobody differs about that.
    await (await both.client.get(Box, "one")).delete();
    await both.settled(() => {
      for (const shadow of [equal, fewer]) expect(shadow.report()).toMatchObject(AGREED);
    });
  });

  it("tells what it would delete", async () => {
    const deleting = (really: boolean) => {
      const operator = boxes();
      operator.on.create(Box, async function tidy({ client }) {
        if (really) await client.delete(ConfigMap, "old");
      });
      return operator;
    };
    await using both = await startBeside(deleting(false));
    await both.work();
    const equal = await both.shadow(deleting(false));
    const other = await both.shadow(deleting(true));
    await both.client.create(ConfigMap.gen({ name: "old" }));
    await both.client.create(box("one"));
    await both.settle();
    expect(equal.report()).toMatchObject(AGREED);
    expect(told(other)).toEqual(["would-delete ConfigMap old"]);
    // When it is gone in the cluster as well, the versions agree again.
    await (await both.client.get(ConfigMap, "old")).delete();
    await both.settle();
    expect(other.report()).toMatchObject({ ...AGREED, over: 1 });
  });

  it("holds what it has to clean up, and lets go when it has", async () => {
    const cleaning = (attempts: number) => {
      const operator = boxes();
      operator.on.delete(Box, function clean({ retry }) {
        if (retry < attempts) throw new TemporaryError("not yet", { delay: "10s" });
      });
      return operator;
    };
    await using both = await startBeside(cleaning(0));
    await both.work();
    const equal = await both.shadow(cleaning(0));
    const slow = await both.shadow(cleaning(1));
    await both.client.create(box("one"));
    await both.settle();
    expect(slow.report()).toMatchObject(AGREED);
    await (await both.client.get(Box, "one")).delete();
    await both.settle();
    expect(equal.report()).toMatchObject(AGREED);
    expect(told(slow)).toEqual(["would-keep Box one"]);
    await both.advance(10_000);
    await both.settle();
    expect(slow.report()).toMatchObject({ ...AGREED, over: 1 });
  });

  it("finds kinds that the new version does not touch any more", async () => {
    const silent = () => {
      const operator = boxes();
      operator.on.create(Box, function nothing() {});
      return operator;
    };
    await using both = await startBeside(generating());
    await both.work();
    const swept = await both.shadow(silent());
    const named = await both.shadow(silent(), { compare: ["configmaps"] });
    await both.nextSecond();
    await both.client.create(box("one"));
    await both.settle();
    const { status } = await both.client.get(Box, "one");
    const found = "would-change Box one status.child status.uid";
    const missing = `would-not-create ConfigMap ${status?.child}`;
    expect(told(named)).toEqual([found, missing]);
    expect(told(swept)).toEqual([found]);
    await both.advance(10_000);
    await both.settled(() => expect(told(swept)).toEqual([found, missing]));
  });

  it("shows nothing of what is in Secrets", async () => {
    const secretive = (password: string) => {
      const operator = boxes();
      operator.on.create(Box, async function hide({ name, client, adopt }) {
        await client.apply(adopt(Secret.gen({ name, stringData: { user: "admin", password } })));
      });
      return operator;
    };
    await using both = await startBeside(secretive("swordfish"));
    await both.work();
    const shadow = await both.shadow(secretive("marlin"));
    await both.client.create(box("one"));
    await both.settle();
    expect(told(shadow)).toEqual(["would-change Secret one data.password"]);
    const text = JSON.stringify([shadow.report(), shadow.logs]);
    for (const word of ["swordfish", "marlin"]) {
      expect(text).not.toContain(word);
      expect(text).not.toContain(Buffer.from(word).toString("base64"));
    }
  });

  it.skipIf(REAL)("refuses what has no dry run, and does not judge what follows from it", async () => {
    const looking = () => {
      const operator = new Operator({ name: "looks" });
      operator.on.create(Pod, async function look({ object }) {
        const { stdout } = await object.exec(["hostname"]);
        await object.label({ host: stdout.trim() });
      });
      return operator;
    };
    await using both = await startBeside(looking(), "simulate");
    both.cluster?.pods.program("web", { exec: { hostname: "here" } });
    await both.work();
    const shadow = await both.shadow(looking());
    const allowed = await both.shadow(looking(), { allowExec: true });
    await both.client.create(Pod.gen({ name: "web", image: "busybox" }));
    await both.advance(30_000);
    expect((await both.client.get(Pod, "web")).labels).toMatchObject({ host: "here" });
    expect(allowed.report()).toMatchObject(AGREED);
    const { differences, undecided, untried } = shadow.report();
    expect(differences).toEqual([]);
    expect(undecided).toMatchObject([
      { verdict: "would-change", name: "web", fields: [{ path: "metadata.labels.host" }] },
    ]);
    expect(untried).toMatchObject([{ what: "exec in pods default/web", handlers: ["look"], object: { name: "web" } }]);
  });

  it("is told by the server what is wrong with its writes", async () => {
    await using both = await startBeside(generating());
    await both.work();
    const shadow = await both.shadow(generating({ "not a key": "x" }));
    // From its first write on the shadow follows ConfigMaps; what was made before counts as having been there.
    await both.client.create(box("zero"));
    await both.settle();
    await both.client.create(box("one"));
    await both.settle();
    const one = told(shadow).filter((line) => / one\b/.test(line));
    expect(one).toEqual([
      expect.stringMatching(/^would-change Box one status\.child status\.uid status\.conditions/),
      expect.stringMatching(/^would-not-create ConfigMap one-/),
    ]);
    expect(shadow.logs.map(({ message }) => message)).toContain("handler failed, will be tried again");
  });
});

describe("what a shadow finds", () => {
  it("is logged, counted, told to whoever listens, and over when the versions agree again", async () => {
    const sized = (factor: number) => {
      const operator = boxes();
      operator.reconcile(Box, async function measure({ spec, patch }) {
        patch.status.size = Math.min((spec.size ?? 0) * factor, 10);
      });
      return operator;
    };
    await using both = await startBeside(sized(1));
    await both.work();
    const heard: string[] = [];
    const shadow = await both.shadow(sized(2), {
      onDifference: ({ name }, event) => void heard.push(`${event} ${name}`),
    });
    await both.client.create(box("one", 3));
    await both.settle();
    expect(shadow.report().differences).toMatchObject([
      { fields: [{ path: "status.size", is: 3, would: 6 }], diff: [" status:", "-  size: 3", "+  size: 6"] },
    ]);
    expect(shadow.running.metrics()).toContain('lotse_shadow_differences{operator="boxes"} 1\n');
    expect(shadow.logs.at(-1)).toMatchObject({
      level: "warn",
      message: "the new version would have it otherwise",
      fields: { verdict: "would-change", paths: "status.size", handlers: "measure" },
    });
    await both.client.patch(Box, "one", { spec: { size: 20 } });
    await both.settle();
    expect(shadow.report()).toMatchObject({ ...AGREED, over: 1 });
    expect(shadow.running.metrics()).toContain('lotse_shadow_differences{operator="boxes"} 0\n');
    expect(heard).toEqual(["found one", "over one"]);
  });

  it("can be waited for until it changes no more", async () => {
    await using both = await startBeside(generating());
    await both.work();
    const shadow = await both.shadow(generating({ more: "yes" }));
    let end: string[] | undefined;
    void shadow.running.shadow?.quiet("30s").then(({ differences }) => {
      end = differences.map(({ verdict }) => verdict);
    });
    await both.advance(20_000);
    await both.client.create(box("one"));
    await both.advance(20_000);
    expect(end).toBeUndefined();
    await both.advance(20_000);
    expect(end).toEqual(["would-change"]);
  });
});

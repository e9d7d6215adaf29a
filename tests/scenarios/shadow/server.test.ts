import { ConfigMap, Role, RoleBinding, Secret } from "@lotse/client";
import { AdmissionError, leader, Operator, type RunningOperator, resource } from "lotse";
import { beforeEach, expect, it } from "vitest";
import { z } from "zod";
import { clustersUnderTest, describeOn } from "../../fixture.ts";
import { useStage } from "../stage.ts";

const GROUP = "crates.example.com";

const Crate = resource({
  group: GROUP,
  version: "v1",
  kind: "Crate",
  spec: z.object({ size: z.number().default(1) }),
  status: z.object({ size: z.number().optional(), note: z.string().optional() }),
});

const crate = (name: string) => new Crate({ metadata: { name }, spec: { size: 3 } });

/** Does everything that an operator can do to a cluster, in every way that there is. */
function busy(note = ""): Operator {
  const operator = new Operator({
    name: "crates",
    formerNames: ["boxes"],
    crds: "install",
    coordination: leader({ name: "crates" }),
    webhooks: { url: "https://127.0.0.1:1" },
  });
  operator.on.validate(Crate, ({ spec }) => {
    if ((spec.size ?? 0) > 100) throw new AdmissionError("too large");
  });
  operator.on.create(Crate, async function furnish({ name, namespace = "", spec, client, adopt, patch, info }) {
    const made = await client.create(adopt(ConfigMap.gen({ generateName: `${name}-`, data: { way: "create" } })));
    await client.create(adopt(ConfigMap.gen({ name: `${name}-by-name`, data: { way: "create" } })));
    await client.apply(adopt(Secret.gen({ name: `${name}-applied`, stringData: { way: "apply" } })));
    await client.patch(ConfigMap, "patched", { data: { way: `patch${note}` } });
    await client.patch(ConfigMap, "patched", [{ op: "add", path: "/data/json", value: "patch" }], { type: "json" });
    const replaced = await client.get(ConfigMap, "replaced");
    await client.replace({ ...replaced.body, data: { way: `replace${note}` } });
    await client.delete(ConfigMap, "deleted", { propagationPolicy: "Foreground" });
    const path = `/api/v1/namespaces/${namespace}/configmaps`;
    // A query in the path, and a deletion of all with a body: the server must not read past the dry run in either.
    const body = ConfigMap.gen({ name: `${name}-raw`, namespace, data: { way: "raw" } }).body;
    await client.raw({ method: "POST", path: `${path}?fieldManager=crates`, body });
    const all = { kind: "DeleteOptions", apiVersion: "v1", propagationPolicy: "Background" };
    await client.raw({ method: "DELETE", path, query: { labelSelector: "collected=yes" }, body: all });
    patch.status.size = spec.size;
    patch.status.note = made.name;
    info("Furnished", "an Event");
  });
  operator.on.delete(Crate, function clean() {});
  return operator;
}

describeOn(clustersUnderTest(), "a shadow", (cluster) => {
  const stage = useStage(cluster, "shadow");
  const { eventually } = stage;
  let client: typeof stage.client;

  beforeEach(async () => {
    ({ client } = stage);
    // The definition is there, as it is where an old version works.
    const defining = new Operator({ name: "definitions", crds: "install" });
    defining.on.event(Crate, () => {});
    await (await stage.start(defining, { events: "none" })).stop();
    const map = (name: string, labels = {}) => client.create(ConfigMap.gen({ name, labels, data: { way: "test" } }));
    await Promise.all([map("patched"), map("replaced"), map("deleted"), map("collected", { collected: "yes" })]);
  });

  /** All that is there, of all kinds that the operator could have written, each with its version. */
  async function everything(): Promise<string[]> {
    const kinds = ["Crate", "ConfigMap", "Secret", "Event", "Lease"];
    const others = ["CustomResourceDefinition", "ValidatingWebhookConfiguration", "ValidatingAdmissionPolicy"];
    const lists = await Promise.all([...kinds, ...others].map((kind) => client.list(kind).toArray()));
    return lists.flat().map(({ name, metadata }) => `${name} ${metadata.uid} ${metadata.resourceVersion}`);
  }

  /** Starts a version as a shadow with a client of its own; `as` somebody whom roles allow what they allow. */
  async function shadow(operator: Operator, user?: string): Promise<RunningOperator> {
    const connected = (await cluster().connect()).inNamespace(stage.namespace);
    const own = user === undefined ? connected : connected.as({ user });
    return stage.start(operator, { client: own, shadow: { settle: "200ms" } });
  }

  const found = (running: RunningOperator) =>
    (running.shadow?.report().differences ?? [])
      .map(({ verdict, kind, name }) => `${verdict} ${kind} ${name.replace(/^one-[a-z0-9]{5}$/, "one-*")}`)
      .sort();

  it("writes nothing at all, whatever its operator does and declares", async () => {
    await client.create(crate("one"));
    const [before, writes] = [await everything(), (await cluster().writes()).length];
    const running = await shadow(busy());
    await eventually(() =>
      expect(found(running)).toEqual([
        "would-change ConfigMap patched",
        "would-change ConfigMap replaced",
        "would-change Crate one",
        "would-create ConfigMap one-*",
        "would-create ConfigMap one-by-name",
        "would-create ConfigMap one-raw",
        "would-create Secret one-applied",
        "would-delete ConfigMap collected",
        "would-delete ConfigMap deleted",
      ]),
    );
    await stage.quiet();
    await running.stop();
    expect((await cluster().writes()).slice(writes)).toEqual([]);
    expect(await everything()).toEqual(before);
    expect(stage.logs.filter(({ level }) => level === "error")).toEqual([]);
  });

  it("needs no right that its operator does not need", async () => {
    // Replaces, and deletes all at once: neither is allowed to patch, or to delete one by one.
    const lean = (way: string) => {
      const operator = new Operator({ name: "lean" });
      operator.on.create(Crate, async function once({ client, namespace, patch, spec }) {
        const { body } = await client.get(ConfigMap, "replaced");
        await client.replace({ ...body, data: { way } });
        await client.create(ConfigMap.gen({ name: "made", data: { way } }));
        const path = `/api/v1/namespaces/${namespace}/configmaps`;
        await client.raw({ method: "DELETE", path, query: { labelSelector: "collected=yes" } });
        patch.status.size = spec.size;
      });
      return operator;
    };
    const reading = ["get", "list", "watch"];
    const rules = [
      { apiGroups: [GROUP], resources: ["crates", "crates/status"], verbs: [...reading, "patch"] },
      { apiGroups: [""], resources: ["configmaps"], verbs: [...reading, "create", "update", "deletecollection"] },
    ];
    await client.create(Role.gen({ name: "lean", rules }));
    await client.create(RoleBinding.gen({ name: "lean", role: "Role:lean", subjects: ["User:jane"] }));
    const asJane = (await cluster().connect()).inNamespace(stage.namespace).as({ user: "jane" });
    await stage.start(lean("old"), { client: asJane, crds: "wait", events: "none" });
    const equal = await shadow(lean("old"), "jane");
    const other = await shadow(lean("new"), "jane");
    await client.create(crate("one"));
    await eventually(() =>
      expect(found(other)).toEqual(["would-change ConfigMap made", "would-change ConfigMap replaced"]),
    );
    const agreed = { differences: [], undecided: [], untried: [], unsettled: 0 };
    await eventually(() => expect(equal.shadow?.report()).toMatchObject(agreed));
    expect(equal.shadow?.report().compared).toBeGreaterThan(0);
    const warned = stage.logs.filter(({ level }) => level === "warn" || level === "error");
    expect(warned.filter(({ message }) => !message.includes("would have it otherwise"))).toEqual([]);
  });
});

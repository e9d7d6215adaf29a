/** What the scan finds in code as people write it, by both sorts of TypeScript. */
import { createRequire } from "node:module";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { loadOperators } from "../project/index.ts";
import { freshLoader } from "../terminal/test-io.ts";
import { TestProject } from "../terminal/test-project.ts";
import { openClassic } from "./classic.ts";
import { type ScannedHandler, scanHandlers } from "./handlers.ts";
import { openNative } from "./native.ts";
import { withProject } from "./project.ts";
import type { Compiler } from "./syntax.ts";

const require = createRequire(import.meta.url);

const OPERATOR = `
import { Operator, resource, requeue } from "lotse";
import { allNamespaces, type Client, ConfigMap, Deployment, defineKind, type KindClass, Namespace, Node, Pod, Secret, Service } from "lotse/client";
import { z } from "zod";
import { countPods, ensure, Store, stores } from "./helpers.ts";
import { handleByReference } from "./handler.ts";
import { send } from "courier";
import { byClient, byContext, byWholeContext, readAll, readOne, unknownClient } from "./untyped.js";

const GROUP = "shop.example.com";
export const Shop = resource({ group: GROUP, version: "v1", kind: "Shop", spec: z.object({ size: z.number() }) });
export const Backup = resource({ group: GROUP, version: "v1", kind: "Backup", plural: "backups", spec: z.object({ at: z.string() }) });
export const Zone = resource({ group: GROUP, version: "v1", kind: "Zone", scope: "Cluster", spec: z.object({ zone: z.string() }) });
const IN_GROUP = { group: GROUP, version: "v1" } as const;
const OF_CLUSTER = { ...IN_GROUP, scope: "Cluster" } as const;
export const Till = resource({ ...IN_GROUP, kind: "Till", spec: z.object({ open: z.boolean() }) });
export const Chain = resource({ ...OF_CLUSTER, kind: "Chain", spec: z.object({ shops: z.number() }) });
class Widget extends defineKind({ group: "widgets.example.com", version: "v1", kind: "Widget" }) {}

const operator = new Operator({ name: "shop" });
const both = [ConfigMap, Secret];
const table: Record<string, KindClass> = {};

operator.on.create(Shop, async function asks_nothing({ spec, patch, logger, conditions, info }) {
  logger.info("size", { size: spec.size });
  patch.status = { seen: true };
  patch.status.seen = true;
  Object.assign(patch.status, { seen: true });
  conditions.set("Ready", true, "Done");
  info("Done", "done");
  await fetch("http://example.com");
});
operator.on.create(Shop, async function manifest({ client }) {
  await client.create({ apiVersion: "v1", kind: "ConfigMap", metadata: { name: "a" } });
  await client.create([Secret.gen({ name: "a" }), new Service({ metadata: { name: "b" } })]);
});
operator.on.create(Shop, async function applies({ client, adopt, name }) {
  await client.apply(adopt(Deployment.gen({ name, image: "nginx" })));
});
operator.on.create(Shop, async function by_helper({ client, name }) {
  await ensure(client, ConfigMap, name);
  await ensure(client, Backup, name);
});
operator.on.create(Shop, async function by_class({ client }) {
  await new Store(client).save("a");
});
operator.on.create(Shop, async function by_interface({ client }) {
  await stores.get("main")?.keep(client, "a");
});
operator.on.create(Shop, async function of_the_cluster({ client }) {
  await client.list(Pod, { namespace: "*" }).toArray();
  await client.list(Secret, { namespace: allNamespaces }).toArray();
  await client.get(Zone, "north");
  await client.get(Namespace, "a");
});
operator.on.create(Till, async function of_spread_kinds({ client, list, patch }) {
  await list(Chain);
  await client.delete(Till, "old", { ...{ wait: true } });
  patch.metadata.labels = { open: "yes" };
});
operator.on.create(Shop, async function options({ client, object }) {
  await client.patch(Deployment, "web", { spec: {} }, { subresource: "scale" });
  await client.delete(Pod, "web", { wait: true });
  await client.get(ConfigMap, "late", { waitUpTo: "1m" });
  await object.delete({ wait: false });
});
operator.on.create(Shop, async function own_object({ object: shop, client }) {
  await shop.label({ a: "b" });
  const again = await client.get(Shop, shop.name);
  await again.patchStatus({});
});
operator.on.create(Shop, async function by_the_objects_client({ object: shop }) {
  const client = await shop.connected();
  await client.list(Secret).toArray();
  await client.delete(shop, { wait: true });
});
operator.on.create(Shop, async function others({ client }) {
  const backup = await client.get(Backup, "a");
  await backup.delete();
  for await (const one of client.list(Backup)) await one.refresh();
  const all = await client.list(Widget).toArray();
  await Promise.all(all.map((one) => one.annotate({ seen: "yes" })));
});
operator.on.create(Shop, async function by_class_alone() {
  await Pod.gen({ name: "a", image: "b" }).create();
  await new ConfigMap({ metadata: { name: "a" } }).replace();
  await Secret.get("a");
  await Pod.list().toArray();
});
operator.on.create(Shop, async function by_name({ client }) {
  await client.get("deployments.apps", "web");
  await client.get("po/web");
  await client.list("cm").toArray();
});
operator.on.create(Shop, async function raw({ client, name }) {
  await client.raw({ method: "POST", path: \`/api/v1/namespaces/default/pods/\${name}/eviction\`, body: {} });
  await client.raw({ method: "GET", path: client.path(Pod, { name, subresource: "log" }) });
});
operator.on.create(Shop, async function of_several({ client }) {
  for (const kind of both) await client.list(kind as typeof ConfigMap | typeof Secret).first();
});
operator.on.create(Shop, async function in_steps({ client, step }) {
  await step("create", async () => { await client.create(ConfigMap.gen({ name: "a" })); });
  await step.all({ a: () => client.delete(Secret, "a"), b: async () => {} });
});
operator.on.create(Shop, { id: "wrapped" }, timed(async ({ client }: { client: Client }) => { await client.get(Secret, "a"); }));
operator.on.create(Shop, handleByReference);
operator.on.create(Shop, async function patches_spec({ patch }) { patch.spec.size = 2; });
operator.on.create(Shop, async function transforms(context) { shrink(context.patch); });
operator.on.create(Pod, async function execs({ object: pod }) {
  const { stdout } = await pod.exec(["id"]);
  for await (const line of pod.logs()) console.log(line, stdout);
});
operator.on.event("pods", async function named_kind({ object }) { await object.delete(); });
operator.on.event({ category: "all" }, async function any_kind({ object }) { await object.delete(); });
operator.on.create(Shop, async function dynamic({ client, spec }) {
  const kind = table[String(spec.size)];
  if (kind) await client.get(kind, "a");
});
operator.on.create(Shop, async function dynamic_path({ client, name }) { await client.raw({ method: "GET", path: name }); });
operator.on.create(Shop, async function hands_on({ client }) { await send(client, "parcel"); });
operator.on.create(Shop, async function untyped_client({ client, name }) { await byClient(client, name); });
operator.on.create(Shop, async function untyped_context(context) { await byContext(context); await byWholeContext(context); });
operator.on.create(Shop, async function untyped_anything() { await unknownClient(JSON.parse("{}")); });
operator.on.create(Shop, async function any_client({ client }) { const c: any = client; await c.get(Secret, "a"); });
operator.on.startup(async function opens({ client }) { await client.list(Node).toArray(); });
operator.timer(Shop, { interval: "1h" }, async function follows({ client, signal }) {
  for await (const event of client.watch(ConfigMap, { signal })) console.log(event.type);
});
const byShop = operator.index(Pod, { id: "byShop" }, ({ name }) => ({ [name]: name }));
operator.reconcile(
  Shop,
  { id: "levels", onDelete: async ({ client }) => { await client.delete(Backup, "last"); } },
  async ({ get, list, exists, object }) => {
    await list(Pod, { ownedBy: object });
    await get(ConfigMap, "a");
    await get.live(Secret, "a");
    await exists(Service, "a");
    await list(byShop, "a");
    return requeue("5s");
  },
);
operator.on.event(Shop, async function reads_in_handlers({ list }) { await list(Pod); });
operator.daemon(Shop, async function reads_in_daemons(context) { await context.get(ConfigMap, "a"); });
operator.timer(Shop, { interval: "1h" }, async function reads_in_timers({ exists, get }) {
  await exists(Service, "a", { namespace: "b" });
  await get.live(Secret, "a");
});
operator.on.failure(Shop, async function reads_in_failures({ list }) { await list(Zone, { namespace: "*" }); });
operator.timer(Shop, { interval: "1h" }, async function reads_by_helper({ list }) { await countPods(list); });
operator.timer(Shop, { interval: "1h" }, async function hands_reads_on({ list }) { await send(list, "parcel"); });
operator.timer(Shop, { interval: "1h" }, async function untyped_reads(context) {
  await readAll(context);
  await readOne(context);
});
operator.children(Shop, { id: "keeps" }, ({ name }) => [
  ConfigMap.gen({ name }),
  { key: "web", child: new Deployment({ metadata: { name } }) },
  { apiVersion: "batch/v1", kind: "CronJob", metadata: { name } },
]);
operator.source("mail", async function* ({ client, sleep }) {
  for await (const { name, namespace } of client.list(Secret)) yield { kind: Shop, name, namespace };
  await sleep("1m");
});
operator.schedule("nightly", { schedule: "@daily", missed: "once" }, async ({ client }) => {
  await client.delete(Backup, "old");
});

function timed<C>(fn: (context: C) => Promise<void>) { return async (context: C) => { await fn(context); }; }
function shrink(patch: { transform(change: (body: never) => void): void } & object) { patch.transform(() => {}); }

export default operator;
`;

const HELPERS = `
import type { CachedList } from "lotse";
import { type Client, ConfigMap, type KindClass, Pod, Secret } from "lotse/client";

export async function ensure(client: Client, kind: KindClass, name: string) {
  const there = await client.get(kind, name).catch(() => undefined);
  if (!there) await client.create(new kind({ metadata: { name } }));
}

export class Store {
  readonly #client: Client;
  constructor(client: Client) { this.#client = client; }
  get client() { return this.#client; }
  async save(name: string) { await this.client.replace(new Secret({ metadata: { name } })); }
}

interface Keeper { keep(client: Client, name: string): Promise<void> }
class MapKeeper implements Keeper {
  async keep(client: Client, name: string) { await client.delete(ConfigMap, name); }
}
export const stores = new Map<string, Keeper>([["main", new MapKeeper()]]);
export const countPods = async (list: CachedList) => (await list(Pod)).length;
`;

/** In JavaScript no type says what a function takes. */
const UNTYPED = `
import { ConfigMap, Pod, Secret, Service } from "lotse/client";
export async function byClient(client, name) {
  const pod = await client.get(Pod, name);
  await pod.exec(["id"]);
  await client.create(ConfigMap.gen({ name }));
}
export async function byContext({ client, object, name }) {
  await object.delete();
  await client.delete(ConfigMap, name);
}
export const byWholeContext = async (context) => { await context.client.list(Pod).toArray(); };
export async function readAll({ list, exists: isThere }) {
  await list(Pod);
  await isThere(Service, "a");
}
export async function readOne(context) {
  await context.get(ConfigMap, "a");
  await context.get.live(Secret, "a");
}
export async function unknownClient(held) { await held.client.create({}); }
`;

const HANDLER = `
import type { ChangeContext } from "lotse";
import { ConfigMap } from "lotse/client";
export async function handleByReference({ client }: ChangeContext<any>) { await helper(client); }
const helper = async (client: ChangeContext<any>["client"]) => { await client.find(ConfigMap, { labelSelector: "a=b" }); };
`;

/** Each handler with the rights that its code needs, and what is not known before it runs. */
const EXPECTED: Readonly<Record<string, readonly string[]>> = {
  asks_nothing: [],
  manifest: ["configmaps: create", "secrets: create", "services: create"],
  applies: ["deployments.apps: create patch"],
  by_helper: ["backups.shop.example.com: create get", "configmaps: create get"],
  by_class: ["secrets: update"],
  by_interface: ["configmaps: delete"],
  of_the_cluster: [
    "namespaces: get (cluster)",
    "pods: list (cluster)",
    "secrets: list (cluster)",
    "zones.shop.example.com: get (cluster)",
  ],
  of_spread_kinds: ["chains.shop.example.com: list watch (cluster)", "tills.shop.example.com: delete list patch watch"],
  options: [
    "configmaps: get list watch",
    "deployments.apps/scale: patch",
    "pods: delete list watch",
    "shops.shop.example.com: delete",
  ],
  own_object: ["shops.shop.example.com/status: patch", "shops.shop.example.com: get patch"],
  by_the_objects_client: ["secrets: list", "shops.shop.example.com: delete list watch"],
  others: ["backups.shop.example.com: delete get list", "widgets.widgets.example.com: list patch"],
  by_class_alone: ["configmaps: update", "pods: create list", "secrets: get"],
  by_name: ["configmaps: list", "deployments.apps: get", "pods: get"],
  raw: ["pods/eviction: create", "pods/log: get"],
  of_several: ["configmaps: list", "secrets: list"],
  in_steps: ["configmaps: create", "secrets: delete"],
  wrapped: ["secrets: get"],
  handleByReference: ["configmaps: list"],
  patches_spec: ["shops.shop.example.com: patch"],
  transforms: ["shops.shop.example.com: patch"],
  execs: ["pods/exec: create get", "pods/log: get", "pods: get"],
  named_kind: ["pods: delete"],
  any_kind: ["? the kind in object.delete(…) is only known when it runs"],
  dynamic: ["? the kind in client.get(…) is only known when it runs"],
  dynamic_path: ["? the path in client.raw(…) is only known when it runs"],
  hands_on: ["? send is not of this project, and gets the client"],
  untyped_client: ["configmaps: create", "pods/exec: create get", "pods: get"],
  untyped_context: ["configmaps: delete", "pods: list", "shops.shop.example.com: delete"],
  untyped_anything: ["? the type of what create is called on is not known"],
  any_client: ["secrets: get"],
  opens: ["nodes: list (cluster)"],
  follows: ["configmaps: list watch"],
  levels: [
    "backups.shop.example.com: delete",
    "configmaps: list watch",
    "pods: list watch",
    "secrets: get",
    "services: list watch",
  ],
  reads_in_handlers: ["pods: list watch"],
  reads_in_daemons: ["configmaps: list watch"],
  reads_in_timers: ["secrets: get", "services: list watch"],
  reads_in_failures: ["zones.shop.example.com: list watch (cluster)"],
  reads_by_helper: ["pods: list watch"],
  hands_reads_on: ["? send is not of this project, and gets a way to read the cluster"],
  untyped_reads: ["configmaps: list watch", "pods: list watch", "secrets: get", "services: list watch"],
  keeps: [
    "configmaps: create delete get list patch watch",
    "cronjobs.batch: create delete get list patch watch",
    "deployments.apps: create delete get list patch watch",
  ],
  mail: ["secrets: list"],
  nightly: ["backups.shop.example.com: delete"],
};

function shown({ found }: ScannedHandler): string[] {
  if (!found) return ["not found"];
  const verbs = new Map<string, Set<string>>();
  for (const { group, resource, verbs: needed, clusterWide } of found.needs) {
    const [plural, subresource] = resource.split("/");
    const name = `${plural}${group === "" ? "" : `.${group}`}${subresource === undefined ? "" : `/${subresource}`}`;
    const key = `${name}|${clusterWide ? " (cluster)" : ""}`;
    verbs.set(key, new Set([...(verbs.get(key) ?? []), ...needed]));
  }
  const lines = [...verbs].map(([key, all]) => {
    const [name, where] = key.split("|");
    return `${name}: ${[...all].sort().join(" ")}${where}`;
  });
  return [...lines.sort(), ...found.gaps.map(({ what }) => `? ${what}`)];
}

const SORTS: readonly (readonly [string, (project: string) => Compiler | Promise<Compiler>])[] = [
  [
    "a library (TypeScript 6)",
    (project) => openClassic(require.resolve("@typescript/typescript6/package.json"), project),
  ],
  ["a program (TypeScript 7)", (project) => openNative(require.resolve("typescript/package.json"), project, "7")],
];

let project: TestProject;

beforeAll(() => {
  project = new TestProject({
    "operator.ts": OPERATOR,
    "helpers.ts": HELPERS,
    "handler.ts": HANDLER,
    "untyped.js": UNTYPED,
    "node_modules/courier/package.json":
      '{ "name": "courier", "type": "module", "main": "index.js", "types": "index.d.ts" }',
    "node_modules/courier/index.js": "export async function send() {}",
    "node_modules/courier/index.d.ts": "export declare function send(client: unknown, what: string): Promise<void>;",
  });
}, 300_000);

afterAll(() => project.remove());

describe.each(SORTS)("with TypeScript as %s, the scan", (_sort, open) => {
  let handlers: readonly ScannedHandler[];

  beforeAll(async () => {
    const { folder } = project;
    const file = path.join(folder, "operator.ts");
    const [loaded] = await loadOperators([file], folder, freshLoader());
    handlers = await withProject([file], "scan-test", { allowJs: true }, async (settings) => {
      const compiler = await open(settings);
      try {
        return [...scanHandlers(loaded?.operator ?? { resources: [], activities: [] }, compiler, folder).values()];
      } finally {
        compiler[Symbol.dispose]();
      }
    });
  }, 300_000);

  it.each(Object.entries(EXPECTED))("finds what %s asks for", (id, expected) => {
    const handler = handlers.find((one) => one.id === id);
    expect(handler && shown(handler)).toEqual([...expected]);
  });

  it("looks at all handlers", () => {
    expect(handlers.map(({ id }) => id).sort()).toEqual(Object.keys(EXPECTED).sort());
  });

  it("says in whose name, and where", () => {
    const [need] = handlers.find(({ id }) => id === "by_helper")?.found?.needs ?? [];
    expect(need).toMatchObject({ by: "handler by_helper", sourceLocation: "helpers.ts:6" });
    const [gap] = handlers.find(({ id }) => id === "dynamic")?.found?.gaps ?? [];
    expect(gap?.sourceLocation).toMatch(/^operator\.ts:\d+$/);
  });
});

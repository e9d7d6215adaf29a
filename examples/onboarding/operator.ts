/**
 * Onboarding: each Team gets a namespace with access for its people, a quota, and a fence around its network. Whatever
 * others change there is brought back, and told. When the Team goes, its namespace stays, unless it says otherwise.
 */
import {
  type Drift,
  Operator,
  PermanentError,
  type ReconcileContext,
  type Requeue,
  resource,
  TemporaryError,
} from "lotse";
import { Namespace } from "lotse/client";
import { z } from "zod";
import { changed, deleted, nameOf, type Report, withReports, wrongLabels } from "./drift.ts";
import { ADOPTED, KINDS, labelsOf, objectsOf, TEAM } from "./objects.ts";

export const Team = resource({
  group: "onboarding.example.com",
  version: "v1",
  kind: "Team",
  scope: "Cluster",
  spec: z.object({
    /** The group of its people, as the cluster's login knows it. */
    group: z.string().min(1),
    /** People beside the group. */
    members: z.array(z.string().min(1)).default([]),
    /** What they may do in the namespace. */
    role: z.enum(["view", "edit", "admin"]).default("edit"),
    quota: z
      .object({ cpu: z.string().default("4"), memory: z.string().default("8Gi"), pods: z.number().int().default(20) })
      .default({ cpu: "4", memory: "8Gi", pods: 20 }),
    /** Take a namespace that is there already. */
    adopt: z.boolean().default(false),
    /** What becomes of the namespace when the team goes. One that was adopted is always kept. */
    onRemoval: z.enum(["Keep", "Delete"]).default("Keep"),
  }),
  status: z.object({
    /** The uid of the namespace. */
    namespace: z.string().optional(),
    /** The objects in it. */
    objects: z.array(z.string()).optional(),
    /** What others have changed, and was undone; the newest at the end. */
    drift: z.array(z.object({ at: z.string(), object: z.string(), what: z.string(), by: z.string() })).optional(),
  }),
  columns: [
    { name: "Group", type: "string", path: ".spec.group" },
    { name: "Role", type: "string", path: ".spec.role" },
    { name: "Ready", type: "string", path: '.status.conditions[?(@.type=="Ready")].status' },
    { name: "Last drift", type: "string", path: ".status.drift[-1:].what" },
  ],
});

type Context = ReconcileContext<InstanceType<typeof Team>["body"]>;

const operator = new Operator({ name: "onboarding", crds: "install" });

/** The namespace is no child: a child goes with its parent, and is never taken over from somebody else. */
operator.reconcile(Team, { conditions: true, onDelete: letGo }, async function keepNamespace(context) {
  const { name, status, now, get, client, patch, logger } = context;
  if (/^(default|kube-.*)$/.test(name)) throw new PermanentError(`the namespace ${name} is the cluster's own`);
  const live = await get(Namespace, name);
  if (live?.metadata.deletionTimestamp) {
    throw new TemporaryError("waits until the old namespace is gone", { delay: "1m" });
  }
  if (!live) {
    const made = await client.create(Namespace.gen({ name, labels: labelsOf(name) }));
    if (status.namespace) report(context, [deleted(nameOf(made), now)]);
    patch.status.namespace = made.uid;
    logger.info("the namespace was made");
    return;
  }
  if (!belongsTo(context, live)) await takeOver(context);
  else if (wrongLabels(live, labelsOf(name)).length > 0) await repairLabels(context);
  patch.status.namespace = live.uid;
});

/** All that is in it is made, repaired and removed by the framework. */
operator.children(Team, { owns: KINDS, onDrift: tellDrift }, async function furnish(context) {
  const { object, name, spec, status, now, get, list, patch } = context;
  const namespace = await get(Namespace, name);
  // To return nothing would mean that nothing shall be there.
  if (!namespace || namespace.metadata.deletionTimestamp || namespace.uid !== status.namespace) {
    throw new TemporaryError("waits for the namespace", { delay: "10m" });
  }
  const wanted = objectsOf(name, spec);
  const lists = await Promise.all(KINDS.map((kind) => list(kind, { ownedBy: object, namespace: name })));
  const present = new Set(lists.flat().map(nameOf));
  const gone = wanted.map(nameOf).filter((one) => status.objects?.includes(one) && !present.has(one));
  const reports = gone.map((one) => deleted(one, now));
  report(context, reports);
  patch.status.objects = wanted.map(nameOf);
  return wanted;
});

export default operator;

/** The namespace is ours when it carries our label, or when it is the one that did. */
function belongsTo({ name, status }: Context, { labels, uid }: Namespace): boolean {
  return labels[TEAM] === name || uid === status.namespace;
}

async function takeOver({ name, spec, client, logger }: Context): Promise<void> {
  if (!spec.adopt) throw new PermanentError(`the namespace ${name} is there already: spec.adopt takes it over`);
  await client.patch(Namespace, name, { metadata: { labels: labelsOf(name), annotations: { [ADOPTED]: "yes" } } });
  logger.info("the namespace was adopted");
}

async function repairLabels(context: Context): Promise<void> {
  const { name, now, get, client, logger } = context;
  // Who has written what only the server knows: the operator's own copy leaves that out.
  const live = await get.live(Namespace, name);
  const reports = live ? wrongLabels(live, labelsOf(name)).map((label) => changed(live, label, now)) : [];
  await client.patch(Namespace, name, { metadata: { labels: labelsOf(name) } });
  logger.info("the namespace was repaired");
  report(context, reports);
}

async function letGo(context: Context): Promise<Requeue | undefined> {
  const { name, spec, get, client, requeue } = context;
  const live = await get(Namespace, name);
  if (!live || !belongsTo(context, live)) return;
  if (spec.onRemoval === "Delete" && !live.annotations[ADOPTED]) {
    if (!live.metadata.deletionTimestamp) await client.delete(Namespace, name);
    // It was read: so this runs again as soon as it is gone.
    return requeue("1m");
  }
  await client.patch(Namespace, name, { metadata: { labels: { [TEAM]: null }, annotations: { [ADOPTED]: null } } });
}

/** Somebody else has changed an object in the namespace: no answer means that it is repaired. */
function tellDrift({ child, fields }: Drift, context: Context): undefined {
  const reports = fields.map((field) => changed(child, field, context.now));
  report(context, reports);
}

/** In the status, and as Events. Two functions may have something to tell at once, so the list is not simply replaced. */
function report({ patch, warn }: Context, news: readonly Report[]): void {
  if (news.length === 0) return;
  for (const { object, what, by } of news) warn("Drift", `${object}: ${what}${by && `, by ${by}`}`);
  patch.transform(({ status }) => {
    if (status) status.drift = withReports(status.drift ?? [], news);
  });
}

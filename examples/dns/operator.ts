/**
 * DNS records in an external API: for each DnsRecord exactly one record at the provider, whatever the provider's answers
 * are like, and whoever else is at work there.
 *
 * Nothing of importance is remembered here: the mark that each record carries at the provider says whose it is. So a lost
 * answer, a restart or a former name need no care of their own; one looks, does the next thing, and looks again.
 */
import { Operator, PermanentError, type ReconcileContext, resource } from "lotse";
import { z } from "zod";
import { type Act, driftOf, isSame, nextAct } from "./decide.ts";
import { Dns, type ProviderRecord, type Wanted } from "./dns.ts";

export const DnsRecord = resource({
  group: "dns.example.com",
  version: "v1",
  kind: "DnsRecord",
  spec: z.object({
    name: z.string().min(1),
    type: z.enum(["A", "AAAA", "CNAME", "MX", "TXT"]).default("A"),
    /** In seconds. */
    ttl: z.number().int().min(1).default(300),
    values: z.array(z.string()).min(1),
    /** Take over a record of this name and type that somebody else has made. */
    adopt: z.boolean().default(false),
  }),
  status: z.object({
    /** What is at the provider, by our own doing. */
    record: z
      .object({ id: z.string(), name: z.string(), type: z.string(), ttl: z.number(), values: z.array(z.string()) })
      .optional(),
    /** What somebody else has done to it, and was undone; the newest at the end. */
    drift: z.array(z.object({ at: z.string(), what: z.string() })).optional(),
  }),
  shortNames: ["dns"],
  columns: [
    { name: "Type", type: "string", path: ".status.record.type" },
    { name: "Record", type: "string", path: ".status.record.name" },
    { name: "TTL", type: "integer", path: ".status.record.ttl" },
    { name: "Values", type: "string", path: ".status.record.values" },
    { name: "Ready", type: "string", path: '.status.conditions[?(@.type=="Ready")].status' },
  ],
});

type Context = ReconcileContext<InstanceType<typeof DnsRecord>["body"]>;

/** So many drifts are remembered, and so many acts may be needed at once. */
const MOST_DRIFTS = 5;
const MOST_ACTS = 20;

const dns = new Dns();

const operator = new Operator({ name: "dns", crds: "install" });

operator.on.startup(async function openProvider({ logger }) {
  const { DNS_URL, DNS_TIMEOUT_MS = "5000" } = process.env;
  logger.info("records are kept at", { url: await dns.open(DNS_URL, { timeoutMs: Number(DNS_TIMEOUT_MS) }) });
});

operator.on.cleanup(async function closeProvider() {
  await dns.close();
});

operator.reconcile(
  DnsRecord,
  // Nobody tells when something changes at the provider: it is looked at now and then.
  { conditions: true, resync: "5m", onDelete: letGo },
  async function keepRecord(context) {
    const { spec, status, patch } = context;
    const { name, type, ttl, values } = spec;
    const wanted: Wanted = { name, type, ttl, values };
    const { acts, record } = await converge(context, wanted);
    // Whoever wants nothing new, and has something to do all the same, undoes what somebody else has done.
    if (status.record && isSame(status.record, wanted)) report(context, acts, wanted);
    if (record) patch.status.record = { ...wanted, values: [...values], id: record.id };
  },
);

export default operator;

async function letGo(context: Context): Promise<void> {
  await converge(context, undefined);
}

/** Looks and does the next thing, until there is nothing to do. Returns what was done, and the record. */
async function converge(context: Context, wanted: Wanted | undefined) {
  const { spec, status, logger, signal } = context;
  const owner = ownerOf(context);
  const acts: Act[] = [];
  while (acts.length < MOST_ACTS) {
    const records = await look(owner, wanted, signal);
    const act = nextAct(wanted, { owner, known: status.record?.id, adopt: spec.adopt, records });
    if (!act) return { acts, record: records.find((record) => record.owner === owner) };
    await perform(act, wanted && { ...wanted, owner }, signal);
    logger.info("changed at the provider", { act: act.do, name: spec.name, type: spec.type });
    acts.push(act);
  }
  throw new Error(`after ${MOST_ACTS} changes the provider still shows something else than was written`);
}

/** Under which mark the provider keeps the object's records; DNS_OWNER tells the operators of several clusters apart. */
function ownerOf({ namespace, name }: Context): string {
  return `${process.env.DNS_OWNER ?? "lotse"}:${namespace}/${name}`;
}

/** All that is there under our mark, whatever its name, and under the wanted name, whoever has made it. */
async function look(owner: string, wanted: Wanted | undefined, signal: AbortSignal): Promise<ProviderRecord[]> {
  const own = await dns.list({ owner }, signal);
  const named = wanted ? await dns.list({ name: wanted.name, type: wanted.type }, signal) : [];
  return [...own, ...named.filter(({ id }) => !own.some((record) => record.id === id))];
}

async function perform(act: Act, wanted: (Wanted & { owner: string }) | undefined, signal: AbortSignal): Promise<void> {
  if (act.do === "refuse") throw new PermanentError(act.why);
  if (act.do === "remove") return dns.remove(act.record.id, signal);
  if (!wanted) return;
  return act.do === "create" ? dns.create(wanted, signal) : dns.update(act.record.id, wanted, signal);
}

/** Tells what was undone: in the status, and as an Event. */
function report({ status, patch, now, warn, logger }: Context, acts: readonly Act[], wanted: Wanted): void {
  const drifts = acts.flatMap((act) => driftOf(act, wanted));
  if (drifts.length === 0) return;
  const at = now.toISOString();
  const all = [...(status.drift ?? []), ...drifts.map((what) => ({ at, what }))];
  patch.status.drift = all.slice(-MOST_DRIFTS);
  warn("Drift", `undone: ${drifts.join("; ")}`);
  logger.warn("somebody has changed the record at the provider, it was repaired", { what: drifts.join("; ") });
}

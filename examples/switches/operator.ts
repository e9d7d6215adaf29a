/**
 * Useless machines with several switches. A Machine says how many Switches it has; each is an object of its own, which
 * carries its machine's name as a label and dies with it. Whoever flips switches has them flipped back, one every five
 * seconds for each machine, and the machine tells the positions of all of them by their first letters: `ddu`.
 */
import { Operator, resource } from "lotse";
import { z } from "zod";

const GROUP = { group: "useless.container.training", version: "v1alpha1" } as const;

export const Machine = resource({
  ...GROUP,
  kind: "Machine",
  spec: z.object({ switches: z.number().int().min(1).max(100).default(1) }),
  status: z.object({ positions: z.string().optional(), flippedAt: z.iso.datetime().optional() }),
  columns: [
    { name: "Switches", type: "integer", path: ".spec.switches" },
    { name: "Positions", type: "string", path: ".status.positions" },
  ],
});

export const Switch = resource({
  ...GROUP,
  kind: "Switch",
  spec: z.object({ position: z.string().min(1).default("down") }),
  status: z.object({
    /** When the operator noticed that it was flipped; absent while it is down. */
    seenAt: z.iso.datetime().optional(),
  }),
  columns: [
    { name: "Position", type: "string", path: ".spec.position" },
    { name: "Seen", type: "date", path: ".status.seenAt" },
  ],
});

type AnySwitch = InstanceType<typeof Switch>;

const DOWN = { position: "down" };
const isFlipped = ({ spec }: AnySwitch) => spec.position !== DOWN.position;

/** A switch is flipped back so long after it was noticed, and after the one before it. */
const PAUSE_MS = 5_000;

const operator = new Operator({ name: "switches", crds: "install" });

operator.reconcile(Machine, { owns: [Switch] }, async function keepUseless(context) {
  const { object, name, spec, status, list, client, adopt, patch, now, requeue, logger } = context;
  // A switch belongs to the machine that its label names. What is read wakes: no switch is watched by hand.
  const mine = () => list(Switch, { labelSelector: { machine: name } });
  const newSwitch = () =>
    adopt(new Switch({ metadata: { generateName: "switch-", labels: { machine: name } }, spec: DOWN }));

  // As many as are wanted.
  const present = await mine();
  for (let i = present.length; i < spec.switches; i++) {
    logger.info("switch added", { switch: (await client.create(newSwitch())).name });
  }
  for (const surplus of present.slice(spec.switches)) {
    await client.delete(Switch, surplus.name, { ignoreNotFound: true });
    logger.info("switch removed", { switch: surplus.name });
  }

  for (const one of await mine()) {
    // One that was another machine's goes with this one now.
    if (!one.metadata.ownerReferences?.some(({ uid }) => uid === object.uid)) {
      await client.patch(Switch, one.name, { metadata: { ownerReferences: newSwitch().metadata.ownerReferences } });
    }
    const { seenAt = null } = one.status ?? {};
    const noticed = isFlipped(one) ? (seenAt ?? now.toISOString()) : null;
    if (noticed === seenAt) continue;
    await client.patch(Switch, one.name, { status: { seenAt: noticed } }, { subresource: "status" });
  }

  const switches = await mine();
  patch.status.positions = switches.map((one) => one.spec.position.charAt(0)).join("");

  // The one that was noticed first. Whoever was flipped since the loop above counts as seen now, and is noticed next time.
  const seenMs = ({ status }: AnySwitch) => Date.parse(status?.seenAt ?? now.toISOString());
  const [next] = switches.filter(isFlipped).sort((a, b) => seenMs(a) - seenMs(b));
  if (!next) return undefined;
  const lastMs = status.flippedAt === undefined ? 0 : Date.parse(status.flippedAt);
  const waitMs = Math.max(seenMs(next), lastMs) + PAUSE_MS - now.getTime();
  if (waitMs > 0) return requeue(waitMs);
  await client.patch(Switch, next.name, { spec: DOWN });
  patch.status.flippedAt = now.toISOString();
  logger.info("flipped back", { switch: next.name, from: next.spec.position });
  return undefined;
});

export default operator;

/**
 * Useless machines with several switches. A Machine says how many Switches it has; each is an object of its own, which
 * carries its machine's name as a label and dies with it. Whoever flips switches has them flipped back, one every five
 * seconds for each machine, and the machine tells the positions of all of them by their first letters: `ddu`.
 */
import { Operator, resource } from "lotse";
import { z } from "zod";

export const Machine = resource({
  group: "switches.example.com",
  version: "v1",
  kind: "Machine",
  spec: z.object({ switches: z.number().int().min(1).max(100) }),
  status: z.object({ positions: z.string().optional() }),
  columns: [
    { name: "Switches", type: "integer", path: ".spec.switches" },
    { name: "Positions", type: "string", path: ".status.positions" },
  ],
});

export const Switch = resource({
  group: "switches.example.com",
  version: "v1",
  kind: "Switch",
  spec: z.object({ position: z.string().default("down") }),
  columns: [
    { name: "Machine", type: "string", path: ".metadata.labels.machine" },
    { name: "Position", type: "string", path: ".spec.position" },
  ],
});

const DOWN = { position: "down" };

const operator = new Operator({ name: "switches", crds: "install" });

/** At most one switch of a machine is flipped back in this time. */
const PAUSE_MS = 5_000;

operator.reconcile(Machine, { owns: [Switch] }, async function keepUseless(context) {
  const { object, name, spec, list, client, adopt, patch, memo, now, requeue, logger } = context;
  const wanted = Array.from({ length: spec.switches }, (_, i) => `${name}-${String(i).padStart(2, "0")}`);
  const own = (await list(Switch, { ownedBy: object })).map((one) => one.name);
  for (const missing of wanted.filter((one) => !own.includes(one))) {
    await client.create(adopt(new Switch({ metadata: { name: missing, labels: { machine: name } }, spec: DOWN })));
  }
  for (const surplus of own.filter((one) => !wanted.includes(one))) {
    await client.delete(Switch, surplus, { ignoreNotFound: true });
  }

  const switches = await list(Switch, { labelSelector: { machine: name } });
  patch.status.positions = switches.map((one) => one.spec.position[0] ?? "?").join("");
  const flipped = switches.find((one) => one.spec.position !== DOWN.position);
  memo.flipAt = flipped && (memo.flipAt ?? now.getTime() + PAUSE_MS);
  if (!flipped) return undefined;
  const waitMs = (memo.flipAt as number) - now.getTime();
  if (waitMs > 0) return requeue(waitMs);
  memo.flipAt = now.getTime() + PAUSE_MS;
  await client.patch(Switch, flipped.name, { spec: DOWN });
  logger.info("flipped back", { switch: flipped.name, from: flipped.spec.position });
  return undefined;
});

export default operator;

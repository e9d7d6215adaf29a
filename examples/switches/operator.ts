/**
 * Useless machines with several switches. A Machine says how many Switches it has; each is an object of its own, which
 * carries its machine's name as a label and dies with it. Whoever flips switches has them flipped back, one every five
 * seconds for each machine, and the machine tells the positions of all of them by their first letters: `ddu`.
 */
import { type Indexes, Operator, resource } from "lotse";
import { AlreadyExistsError, type Client, NotFoundError } from "lotse/client";
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

const operator = new Operator({ name: "switches", crds: "install" });

const byMachine = operator.index(Switch, { id: "byMachine" }, ({ namespace, name, labels, spec }) => ({
  [`${namespace}/${labels.machine}`]: { name, position: spec.position },
}));

const shown = operator.index(Machine, { id: "shown" }, ({ namespace, name, status }) => ({
  [`${namespace}/${name}`]: status?.positions ?? "",
}));

const switchesOf = (machine: string, indexes: Indexes) =>
  [...indexes(byMachine).get(machine)].sort((a, b) => (a.name < b.name ? -1 : 1));

operator.on(["create", "update", "resume"], Machine, async function fitSwitches(context) {
  const { spec, namespace, name, client, adopt, indexes } = context;
  const wanted = Array.from({ length: spec.switches }, (_, i) => `${name}-${String(i).padStart(2, "0")}`);
  const present = switchesOf(`${namespace}/${name}`, indexes).map((one) => one.name);
  for (const missing of wanted.filter((one) => !present.includes(one))) {
    const metadata = { name: missing, labels: { machine: name } };
    await client.create(adopt(new Switch({ metadata, spec: { position: "down" } }))).catch(unless(AlreadyExistsError));
  }
  for (const surplus of present.filter((one) => !wanted.includes(one))) {
    await client.delete(Switch, surplus).catch(unless(NotFoundError));
  }
});

operator.timer(Machine, { interval: "5s", initialDelay: "5s" }, async function flipOneBack(context) {
  const { namespace, name, client, indexes } = context;
  const flipped = switchesOf(`${namespace}/${name}`, indexes).find(({ position }) => position !== "down");
  if (flipped) await client.patch(Switch, flipped.name, { spec: { position: "down" } });
});

/** A switch has changed, come or gone: its machine shows it, and so does the machine that it belonged to before. */
operator.on.event(Switch, async function showPositions({ namespace, labels, memo, client, indexes }) {
  for (const name of new Set([labels.machine, memo.machine as string | undefined])) {
    if (name !== undefined) await show(name, `${namespace}/${name}`, client, indexes);
  }
  memo.machine = labels.machine;
});

/** Several switches may do this at the same time for one machine: whoever writes last looks whether it is still true. */
async function show(name: string, machine: string, client: Client, indexes: Indexes): Promise<void> {
  for (;;) {
    const [before] = indexes(shown).get(machine);
    const letters = switchesOf(machine, indexes).map(({ position }) => position[0] ?? "?");
    const positions = letters.join("");
    if (before === undefined || before === positions) return;
    const status = { positions };
    const written = await client
      .patch(Machine, name, { status }, { subresource: "status" })
      .catch(unless(NotFoundError));
    if (!written) return;
  }
}

/** Lets errors of one class pass: what was to be done, somebody else has done. */
function unless(Expected: new (...rest: never[]) => Error) {
  return (error: unknown): undefined => {
    if (!(error instanceof Expected)) throw error;
    return undefined;
  };
}

export default operator;

/**
 * A harbour: requests for berths are judged before they are stored. What one object alone can tell is a rule of its schema
 * or a policy, which the API server enforces by itself; what needs to know the other berths is asked of the operator.
 */
import { AdmissionError, Operator } from "lotse";
import { Berth } from "./berth.ts";

/** The quays, and how many metres each has. */
const QUAYS: Readonly<Record<string, number>> = { north: 120, south: 250, ocean: 400 };

const operator = new Operator({ name: "harbour", crds: "install" });

const shipsByQuay = operator.index(Berth, { id: "shipsByQuay" }, ({ spec, name, namespace, uid }) => ({
  [spec.quay ?? ""]: { uid, berth: `${namespace}/${name}`, metres: spec.ship.length },
}));

// Needs no webhook: there is nothing to look up.
operator.policy(Berth, {
  id: "known-quay",
  matchConditions: ["has(object.spec.quay)"],
  rules: [
    {
      expression: `object.spec.quay in ['${Object.keys(QUAYS).join("', '")}']`,
      messageExpression: `'there is no quay ' + object.spec.quay`,
    },
  ],
});

operator.on.mutate(Berth, { operations: ["CREATE"] }, function chooseQuay({ spec, patch, indexes }) {
  if (spec.quay !== undefined) return;
  const quay = Object.keys(QUAYS).find((one) => spec.ship.length <= room(one, indexes(shipsByQuay).get(one)));
  if (quay === undefined) throw new AdmissionError(`no quay has room for ${spec.ship.length} metres`, { code: 409 });
  patch.spec.quay = quay;
});

operator.on.validate(Berth, function keepRoom({ spec, uid, old, indexes, warn }) {
  const { quay = "", ship } = spec;
  const others = [...indexes(shipsByQuay).get(quay)].filter((one) => one.uid !== uid);
  const left = room(quay, others);
  const asksForMore = quay !== old?.spec.quay || ship.length > old.spec.ship.length;
  if (ship.length > left && asksForMore) {
    throw new AdmissionError(`quay ${quay} has room for ${left} metres, and ${ship.name} has ${ship.length}`, {
      code: 409,
      reason: "Conflict",
      causes: others.map(({ berth, metres }) => ({ field: "spec.quay", message: `${berth} takes ${metres} metres` })),
    });
  }
  if (ship.draught !== undefined && ship.draught > 12)
    warn("such a draught needs high water: the ship may have to wait");
});

operator.on.create(Berth, function sendPilot({ spec, patch, logger }) {
  patch.status.pilot = spec.ship.length > 200 ? "two tugs and a pilot" : "a pilot";
  logger.info("a pilot is on the way", { ship: spec.ship.name, quay: spec.quay });
});

export default operator;

function room(quay: string, ships: Iterable<{ readonly metres: number }>): number {
  return [...ships].reduce((left, { metres }) => left - metres, QUAYS[quay] ?? 0);
}

/**
 * Two processes that do not work on the same objects at the same time: the one with the highest priority works, the others
 * pause, and go on when it leaves or dies. Kopf's operators and these give way to each other, by the same object.
 *
 * kubectl apply -f examples/kopf/peering-kinds.yaml
 * kubectl apply -f examples/kopf/peering.yaml
 * npx lotse run examples/kopf/06-peering.ts --install-crds    # as it is deployed
 * npx lotse run examples/kopf/06-peering.ts --dev             # a developer's process: the other one pauses
 * npx lotse freeze --peering default                          # both pause, until `lotse resume --peering default`
 */
import { Operator, peering } from "lotse";
import { KopfExample } from "./kopf-example.ts";

const operator = new Operator({ name: "kopf-peering", coordination: peering({ name: "default" }) });

operator.on.create(KopfExample, function createFn({ logger }) {
  logger.info("something is logged here");
});

export default operator;

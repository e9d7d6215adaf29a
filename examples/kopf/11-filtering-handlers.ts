/**
 * Filters say which objects a handler is for: by labels, annotations, a function, or the value of a field before and
 * after a change. An object that no handler matches is neither written nor logged.
 */
import { absent, Operator, present } from "lotse";
import { KopfExample } from "./kopf-example.ts";

const operator = new Operator({ name: "kopf-filters" });

operator.on.create(KopfExample, { labels: { somelabel: "somevalue" } }, function labelMatches() {});
operator.on.create(KopfExample, { labels: { somelabel: present } }, function labelIsPresent() {});
operator.on.create(KopfExample, { labels: { nonexistent: absent } }, function labelIsAbsent() {});
operator.on.create(KopfExample, { labels: { somelabel: (value) => value === "somevalue" } }, function labelPasses() {});

operator.on.create(KopfExample, { annotations: { someannotation: "somevalue" } }, function annotationMatches() {});
operator.on.create(KopfExample, { annotations: { someannotation: present } }, function annotationIsPresent() {});
operator.on.create(KopfExample, { annotations: { nonexistent: absent } }, function annotationIsAbsent() {});
operator.on.create(KopfExample, { annotations: { someannotation: () => false } }, function annotationDoesNotPass() {});

operator.on.create(KopfExample, { when: ({ spec }) => spec.field !== undefined }, function filterPasses() {});
operator.on.create(KopfExample, { when: () => false }, function filterDoesNotPass() {});

operator.on.create(KopfExample, { field: "spec.field", value: "value" }, function valueMatches() {});
operator.on.create(KopfExample, { field: "spec.field", value: "something else" }, function valueDoesNotMatch() {});
operator.on.create(KopfExample, { field: "spec.field", value: present }, function valueIsPresent() {});
operator.on.create(KopfExample, { field: "spec.lst", value: present }, function valueIsNotPresent() {});

operator.on.update(KopfExample, { field: "spec.field", old: "value", new: "changed" }, function changeMatches() {});

operator.daemon(KopfExample, { field: "spec.field", value: "value" }, async function daemonMatches({ sleep, logger }) {
  for (;;) {
    logger.info("the daemon's field matches");
    await sleep("1s");
  }
});

export default operator;

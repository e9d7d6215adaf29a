/**
 * A bit of everything: hooks, children, Events, errors that go away, a field, and pods that are told from others by a
 * label. Each creation handler succeeds once, however long the others take.
 */
import { label, Operator, TemporaryError } from "lotse";
import { Pod } from "lotse/client";
import { KopfExample } from "./kopf-example.ts";

const operator = new Operator({ name: "kopf-all-at-once", events: "all", settings: { execution: { backoff: "1s" } } });

operator.on.startup(function startupFnSimple({ logger }) {
  logger.info("about to start");
});

operator.on.startup(function startupFnRetried({ retry, logger }) {
  if (retry < 3) throw new TemporaryError(`will work in ${3 - retry} s`, { delay: "1s" });
  logger.info("started after all");
});

operator.on.cleanup(function cleanupFn({ logger }) {
  logger.info("cleaned up");
});

operator.on.create(KopfExample, function create1({ info, warn }) {
  info("AnyReason", "the first job is done");
  warn("SomeReason", "something could not be done");
  return { jobStatus: 100 };
});

operator.on.create(KopfExample, function create2({ retry }) {
  // Tried again after a while, also when the operator has been started anew meanwhile.
  if (retry === 0) throw new Error("whoops");
  return { jobStatus: 100 };
});

operator.on.create(KopfExample, async function createPod({ name, adopt, client }) {
  const pod = adopt(Pod.gen({ generateName: `${name}-`, image: "busybox", command: ["sh", "-c", "sleep 1"] }));
  await client.create(label(pod, { labels: { application: "kopf-example-99" } }));
});

operator.on.update(KopfExample, function update({ diff, logger }) {
  logger.info("the object has changed", { changes: diff.length });
});

operator.on.field(KopfExample, { field: "spec.lst" }, function updateLst({ old, new: now, logger }) {
  logger.info("the list has changed", { old, new: now });
});

operator.on.delete(KopfExample, { id: "delete" }, () => {});

operator.on.event(Pod, { labels: { application: "kopf-example-99" } }, function examplePodChange({ logger }) {
  logger.info("this pod is one of ours");
});

export default operator;

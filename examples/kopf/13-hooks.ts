/**
 * Handlers of the operator itself: before it starts, which may be tried again, and after it has stopped; the credentials
 * that it uses; and what it says of itself at `/healthz`.
 */
import { Operator, TemporaryError } from "lotse";
import { KubeConfig, Pod } from "lotse/client";

/** The pods that are served at the moment. */
const served = new Set<string>();

const operator = new Operator({ name: "kopf-hooks" });

operator.on.startup(function startupFnSimple({ logger }) {
  logger.info("the list of pods is empty");
  served.clear();
});

operator.on.startup(function startupFnRetried({ retry, logger }) {
  if (retry < 3) throw new TemporaryError(`will work in ${3 - retry} s`, { delay: "1s" });
  logger.info("started after all");
});

operator.on.cleanup(function cleanupFn({ logger }) {
  logger.info("everything is cleaned up", { stillServed: served.size });
});

/** What the client does by itself, in short; a token of a vault would be brought the same way. */
operator.on.login({ errors: "permanent" }, async function loginFn() {
  const config = await KubeConfig.load();
  const { cluster = "", user = "" } = config.contexts.get(config.currentContext ?? "") ?? {};
  const server = config.clusters.get(cluster);
  const who = config.users.get(user);
  return {
    server: server?.server,
    ca: server?.["certificate-authority-data"],
    token: who?.token,
    cert: who?.["client-certificate-data"],
    key: who?.["client-key-data"],
    namespace: config.namespace,
    expires: new Date(Date.now() + 30_000),
  };
});

operator.on.probe(function tasksCount() {
  return served.size;
});

operator.on.probe(function monitoredObjects() {
  return [...served].sort();
});

operator.daemon(Pod, async function podTask({ namespace, name, sleep, logger }) {
  served.add(`${namespace}/${name}`);
  try {
    for (;;) {
      await sleep("5s");
      logger.info("the pod is served in the background");
    }
  } finally {
    served.delete(`${namespace}/${name}`);
  }
});

export default operator;

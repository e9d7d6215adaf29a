/**
 * A distributed load tester. A LoadTest says how many pods shall send how many requests to which service; the pods do so
 * and log what they saw, and the LoadTest tells the sum: requests, failures, latencies.
 */
import { Operator, PermanentError, resource, TemporaryError } from "lotse";
import { NotFoundError, Pod } from "lotse/client";
import { z } from "zod";
import { RUNNER, type Sample, summary } from "./runner.ts";

export const LoadTest = resource({
  group: "load.example.com",
  version: "v1",
  kind: "LoadTest",
  spec: z.object({
    replicas: z.number().int().min(1).max(50).default(1),
    test: z.object({
      method: z.enum(["GET", "POST", "PUT", "DELETE", "HEAD"]).default("GET"),
      /** A service's name, or host and port. */
      serviceName: z.string().min(1),
      path: z.string().default("/"),
      /** How often each pod asks. */
      repeat: z.number().int().min(1).max(100_000).default(10),
    }),
  }),
  status: z.object({
    state: z.enum(["pending", "executing", "finished", "failed"]).optional(),
    run: z.string().optional(),
    requests: z.number().optional(),
    failures: z.number().optional(),
    p50: z.string().optional(),
    p99: z.string().optional(),
    message: z.string().optional(),
  }),
  shortNames: ["lt"],
  columns: [
    { name: "State", type: "string", path: ".status.state" },
    { name: "Requests", type: "integer", path: ".status.requests" },
    { name: "Failures", type: "integer", path: ".status.failures" },
    { name: "P50", type: "string", path: ".status.p50" },
    { name: "P99", type: "string", path: ".status.p99" },
  ],
});

type Spec = InstanceType<typeof LoadTest>["body"]["spec"];

const operator = new Operator({ name: "load-test", crds: "install" });

/** How long a test may wait for its pods before it is looked at again. */
const AGAIN = "2s";

operator.on(["create", "update"], LoadTest, async function runTest({ name, spec, meta, adopt, client, patch, logger }) {
  // A generation is one wish: pods of an earlier one belong to a test that nobody wants any more.
  const run = `${meta.generation ?? 1}`;
  const pods = await client.list(Pod, { labelSelector: { "load.example.com/test": name } }).toArray();
  const mine = pods.filter(({ labels }) => labels["load.example.com/run"] === run);
  await removePods(pods.filter((pod) => !mine.includes(pod)));

  if (mine.length < spec.replicas) {
    for (let i = mine.length; i < spec.replicas; i++) {
      await client.apply(adopt(podOf(name, run, i, spec)));
    }
    Object.assign(patch.status, {
      state: "pending",
      run,
      requests: null,
      failures: null,
      p50: null,
      p99: null,
      message: null,
    });
    throw new TemporaryError("the pods are starting", { delay: AGAIN });
  }
  const phases = mine.map(({ status }) => status?.phase ?? "Pending");
  const failed = mine.find(({ status }) => status?.phase === "Failed");
  if (failed) {
    const message = `the pod ${failed.name} failed`;
    Object.assign(patch.status, { state: "failed", message });
    throw new PermanentError(message);
  }
  if (phases.some((phase) => phase !== "Succeeded")) {
    patch.status.state = phases.includes("Pending") ? "pending" : "executing";
    throw new TemporaryError("the pods are at work", { delay: AGAIN });
  }
  const samples = await samplesOf(mine);
  const { requests, failures, p50, p99 } = summary(samples);
  Object.assign(patch.status, { state: "finished", requests, failures, p50: `${p50} ms`, p99: `${p99} ms` });
  logger.info("the test is finished", { requests, failures, p50, p99 });
});

/** The pods are owned by their test, so Kubernetes would take them along; but a test that is deleted shall end at once. */
operator.on.delete(LoadTest, async function stopTest({ name, client }) {
  await removePods(await client.list(Pod, { labelSelector: { "load.example.com/test": name } }).toArray());
});

async function removePods(pods: readonly Pod[]): Promise<void> {
  await Promise.all(
    pods.map((pod) =>
      pod.delete({ gracePeriodSeconds: 0 }).catch((error: unknown) => {
        if (!(error instanceof NotFoundError)) throw error;
      }),
    ),
  );
}

function podOf(name: string, run: string, index: number, { test }: Spec): Pod {
  return Pod.gen({
    name: `${name}-${run}-${index}`,
    labels: { "load.example.com/test": name, "load.example.com/run": run },
    image: "node:22-alpine",
    command: ["node", "--input-type=module", "--eval", RUNNER],
    env: {
      URL: `http://${test.serviceName}${test.path}`,
      METHOD: test.method,
      REPEAT: String(test.repeat),
    },
    restartPolicy: "Never",
  });
}

/** Each pod's last line is what it saw. */
async function samplesOf(pods: readonly Pod[]): Promise<Sample[]> {
  const texts = await Promise.all(pods.map((pod) => pod.logs({ tailLines: 1 }).text()));
  return texts.flatMap((text) => JSON.parse(text) as Sample[]);
}

export default operator;

/**
 * A distributed load tester. A LoadTest says how many pods shall send how many requests to which Service; the pods do so
 * and log what they saw, and the LoadTest tells the sum: requests, failures, latencies.
 */
import { Operator, resource } from "lotse";
import { Pod } from "lotse/client";
import { z } from "zod";
import { RUNNER, type Sample, summary } from "./runner.ts";

const State = z.enum(["pending", "executing", "finished", "failed"]);

export const LoadTest = resource({
  group: "example.org",
  version: "v1",
  kind: "LoadTest",
  spec: z.object({
    /** How many pods. */
    replicas: z.number().int().min(1).max(50).default(1),
    test: z.object({
      method: z.enum(["GET", "POST", "PUT", "DELETE", "HEAD"]).default("GET"),
      /** As a pod would name it: `nginx`, `nginx:8080`, `nginx.shop`. */
      serviceName: z.string().min(1),
      path: z.string().regex(/^\//).default("/"),
      /** How often each pod asks. */
      repeat: z.number().int().min(1).max(100_000).default(10),
    }),
  }),
  status: z.object({
    state: State.optional(),
    children: z.array(z.string()).optional(),
    /** The generation of the spec that all of this is about. */
    tested: z.number().optional(),
    requests: z.number().optional(),
    failures: z.number().optional(),
    p50: z.string().optional(),
    p99: z.string().optional(),
    message: z.string().optional(),
  }),
  shortNames: ["ld"],
  columns: [
    { name: "Children", type: "string", path: ".status.children", description: "the pods of the test" },
    { name: "State", type: "string", path: ".status.state", description: State.options.join(", ") },
    { name: "Requests", type: "integer", path: ".status.requests", priority: 1 },
    { name: "Failures", type: "integer", path: ".status.failures", priority: 1 },
    { name: "P50", type: "string", path: ".status.p50", priority: 1 },
    { name: "P99", type: "string", path: ".status.p99", priority: 1 },
  ],
});

const operator = new Operator({ name: "load-test", crds: "install" });

/** Which generation of the spec a pod belongs to. */
const TEST = "example.org/tested";

operator.reconcile(LoadTest, { owns: [Pod] }, async function runTest(context) {
  const { object, name, spec, status, meta, list, client, adopt, patch, logger } = context;
  // A generation of the spec is one test. Pods of another one belong to a test that nobody wants any more.
  const tested = meta.generation ?? 1;
  const all = await list(Pod, { ownedBy: object });
  const present = all.filter(({ labels }) => labels[TEST] === `${tested}`);
  for (const old of all.filter((pod) => !present.includes(pod))) {
    await client.delete(Pod, old.name, { force: true, ignoreNotFound: true });
  }
  if (status.tested === tested && (status.state === "finished" || status.state === "failed")) return;

  const children = Array.from({ length: spec.replicas }, (_, i) => `${name}-${tested}-${i}`);
  for (const missing of children.filter((child) => !present.some((pod) => pod.name === child))) {
    await client.create(adopt(podOf(missing, tested, spec.test)));
  }

  // Nobody waits here: what is read wakes, so the next look comes when one of the pods has got on.
  const pods = await list(Pod, { ownedBy: object });
  const state = stateOf(pods);
  const failed = pods.find(({ status }) => status?.phase === "Failed");
  const message = failed ? `${failed.name} failed: kubectl logs ${failed.name}` : null;
  const outcome = state === "finished" ? summary(await samplesOf(pods)) : NOTHING_YET;
  Object.assign(patch.status, { state, children, tested, message, ...outcome });
  if (state !== status.state) logger.info("the test has got on", { state, pods: pods.length });
});

const NOTHING_YET = { requests: null, failures: null, p50: null, p99: null };

function stateOf(pods: readonly Pod[]): z.infer<typeof State> {
  const phases = new Set(pods.map(({ status }) => status?.phase ?? "Pending"));
  if (phases.has("Failed")) return "failed";
  if (phases.has("Pending")) return "pending";
  return phases.has("Running") ? "executing" : "finished";
}

function podOf(name: string, tested: number, test: InstanceType<typeof LoadTest>["body"]["spec"]["test"]): Pod {
  return Pod.gen({
    name,
    labels: { [TEST]: `${tested}` },
    image: "node:22-alpine",
    command: ["node", "--input-type=module", "--eval", RUNNER],
    env: { URL: `http://${test.serviceName}${test.path}`, METHOD: test.method, REPEAT: String(test.repeat) },
    restartPolicy: "Never",
  });
}

/** Each pod's last line is what it saw. */
async function samplesOf(pods: readonly Pod[]): Promise<Sample[]> {
  const texts = await Promise.all(pods.map((pod) => pod.logs({ tailLines: 1 }).text()));
  return texts.flatMap((text) => JSON.parse(text) as Sample[]);
}

export default operator;

/**
 * What `npm test` leaves to `npm run test:full`, so that it answers within two minutes: suites that start programs (the
 * `lotse` command, compilers, operators that are killed), and those whose work is the many cases. Both run everywhere with
 * nothing but Node.js; `.ci/run` runs both.
 */
export const LEFT_TO_FULL: string[] = [
  // Operators, clusters and commands as processes.
  "tests/faults/{api,handlers,kill,reconcile,streams}.test.ts",
  "tests/faults/coordination/{replicas,shards}.test.ts",
  "tests/cli/**/*.test.ts",
  "packages/cluster/src/envtest/programs.test.ts",
  "packages/cluster/src/persistence-kill.test.ts",
  "packages/cluster/src/kubelet/network/process-network.test.ts",
  "packages/cluster/src/kubelet/process/process-{runtime,watchdog}.test.ts",
  "scripts/{import-weight,pack}.test.mjs",
  "packages/lotse/src/cli/profiling/profiling.test.ts",
  "tests/scenarios/walk.test.ts",
  // Replicas that wait for each other's Leases, and kinds that come late: they wait more than they do.
  "tests/scenarios/{leader,shards,shard-selector,peering,kinds,records}.test.ts",
  "packages/lotse/src/coordination/{leader,peering/coordinator}.test.ts",
  "packages/lotse/src/cli/freeze.test.ts",
  "packages/lotse/src/cli/run/shadow.test.ts",
  // The user's compiler.
  "packages/lotse/src/cli/check/{check,conversions}.test.ts",
  "packages/lotse/src/cli/generate/{generate,handlers,webhooks}.test.ts",
  "packages/lotse/src/cli/{page,init/template,permissions/rights,scan/scan}.test.ts",
  "packages/lotse/src/generate/types.test.ts",
  "packages/testing/src/rights.test.ts",
  // Hundreds of clusters, one after another.
  "packages/testing/src/explore/{planted,threads}.test.ts",
  "tests/faults/explore.test.ts",
  "tests/scenarios/harness-rights.test.ts",
  // Many cases, kinds or pods.
  "packages/cluster/src/bad-input.test.ts",
  "tests/scenarios/kinds-come-and-go.test.ts",
  "packages/cluster/src/controllers/workloads/{many-pods,work}.test.ts",
  "packages/cluster/src/yaml-bodies.test.ts",
  "packages/client/src/limits.test.ts",
  "tests/scenarios/children-settled.test.ts",
  "tests/scenarios/replay.test.ts",
  "packages/testing/src/transitions/transitions.test.ts",
  "tests/scenarios/transitions-examples.test.ts",
  "packages/cluster/src/words.test.ts",
  "packages/lotse/src/admission/conversion/prove.test.ts",
  "packages/lotse/src/schema/sample-judged.test.ts",
  // Examples whose story is long; the short ones are part of `npm test`, and all of them run on a real server too.
  "examples/{berths,dns,load-test,onboarding,os-labels,postgres}/operator.test.ts",
  "examples/kopf/kopf.test.ts",
  "tests/scenarios/shadow/{examples,server,world}.test.ts",
];

/** What `npm test` tries in part, and `npm run test:full` in full: it sets LOTSE_FULL. */
export const TRIED_IN_PART: string[] = [
  "tests/faults/children.property.test.ts",
  "tests/faults/client-watch.test.ts",
  "tests/faults/coordination/{lease,shards}.property.test.ts",
  "packages/client/src/transport/http1/parser.fuzz.test.ts",
  "packages/cluster/src/fuzz.test.ts",
  "packages/lotse/src/admission/server/flood.test.ts",
  "packages/lotse/src/admission/certificates/decade.test.ts",
  "packages/lotse/src/coordination/**/*.property.test.ts",
  "packages/lotse/src/schema/compatibility.property.test.ts",
  "packages/lotse/src/turn/settle.test.ts",
  "packages/lotse/src/turn/storage/*.test.ts",
];

/** Scenarios that start an embedded cluster of their own: a real server would have them do the same once more. */
export const EMBEDDED_ALONE: string[] = [
  "tests/scenarios/{harness-rights,metrics-page,objectives,observability,pods,replay,run-ids,transitions-examples,walk}.test.ts",
];

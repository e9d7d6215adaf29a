/**
 * The example operators on a real kube-apiserver, by the same scenarios as on the embedded cluster. There is no node: where
 * an example waits for a Pod, its scenario sets the Pod's status as a kubelet would (and, where it waits for a Job or a
 * StatefulSet, theirs as a controller would), and what needs a container that runs
 * (exec, logs) stays in the examples' own tests.
 */
import type { Operator } from "lotse";
import { afterAll, describe } from "vitest";
import type { StartBench } from "../../examples/bench.ts";
import berths from "../../examples/berths/operator.ts";
import { scenario as berthsScenario } from "../../examples/berths/scenario.ts";
import dns from "../../examples/dns/operator.ts";
import { scenario as dnsScenario } from "../../examples/dns/scenario.ts";
import exchangeRates from "../../examples/exchange-rates/operator.ts";
import { scenario as exchangeRatesScenario } from "../../examples/exchange-rates/scenario.ts";
import loadTest from "../../examples/load-test/operator.ts";
import { scenario as loadTestScenario } from "../../examples/load-test/scenario.ts";
import onboarding from "../../examples/onboarding/operator.ts";
import { scenario as onboardingScenario } from "../../examples/onboarding/scenario.ts";
import osLabels from "../../examples/os-labels/operator.ts";
import { scenario as osLabelsScenario } from "../../examples/os-labels/scenario.ts";
import postgres from "../../examples/postgres/operator.ts";
import { scenario as postgresScenario } from "../../examples/postgres/scenario.ts";
import simpleDeployment from "../../examples/simple-deployment/operator.ts";
import { scenario as simpleDeploymentScenario } from "../../examples/simple-deployment/scenario.ts";
import switches from "../../examples/switches/operator.ts";
import { scenario as switchesScenario } from "../../examples/switches/scenario.ts";
import uselessMachine from "../../examples/useless-machine/operator.ts";
import { scenario as uselessMachineScenario } from "../../examples/useless-machine/scenario.ts";
import { describeOn } from "../fixture.ts";
import { removeDefinitions, startRealBench } from "./examples-bench.ts";

/** An example, its scenario, and the namespaces that it serves beside the one of its test. */
const EXAMPLES: readonly (readonly [Operator, (start: StartBench) => void, (readonly string[])?])[] = [
  [berths, berthsScenario],
  [dns, dnsScenario],
  [exchangeRates, exchangeRatesScenario],
  [loadTest, loadTestScenario],
  [onboarding, onboardingScenario, ["*"]],
  [osLabels, osLabelsScenario],
  [postgres, postgresScenario],
  [simpleDeployment, simpleDeploymentScenario],
  [switches, switchesScenario],
  [uselessMachine, uselessMachineScenario],
];

describeOn(["real"], "the example", (cluster) => {
  let tests = 0;
  for (const [operator, scenario, serves] of EXAMPLES) {
    describe(operator.name, () => {
      afterAll(() => removeDefinitions(cluster(), operator));
      scenario((clock) => startRealBench(cluster(), operator, `${operator.name}-${++tests}`, clock, serves));
    });
  }
});

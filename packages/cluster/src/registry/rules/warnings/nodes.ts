import { labelValueErrors, lookup } from "@lotse/client/meta";
import { type Fields, structs, text, texts } from "../pod/index.ts";

const OLD_LABELS: Readonly<Record<string, string>> = {
  "beta.kubernetes.io/arch": 'deprecated since v1.14; use "kubernetes.io/arch" instead',
  "beta.kubernetes.io/os": 'deprecated since v1.14; use "kubernetes.io/os" instead',
  "failure-domain.beta.kubernetes.io/region": 'deprecated since v1.17; use "topology.kubernetes.io/region" instead',
  "failure-domain.beta.kubernetes.io/zone": 'deprecated since v1.17; use "topology.kubernetes.io/zone" instead',
  "beta.kubernetes.io/instance-type": 'deprecated since v1.17; use "node.kubernetes.io/instance-type" instead',
  "app.kubernetes.io/created-by": "deprecated since v1.9",
  "scheduler.alpha.kubernetes.io/preferAvoidPods": "deprecated since v1.22; use Taints and Tolerations instead",
  "node-role.kubernetes.io/master": 'use "node-role.kubernetes.io/control-plane" instead',
};

/** What there is to say about a label that nodes once had; undefined for all others. */
export const oldLabel = (key: string): string | undefined => lookup(OLD_LABELS, key);

/** Expressions about nodes by labels that they no longer have; `values` are looked at where validation lets them pass. */
export function termWarnings(term: Fields | undefined, values: boolean, path: string): string[] {
  return structs(term?.matchExpressions).flatMap((expression, i) => {
    const here = `${path}.matchExpressions[${i}]`;
    const key = text(expression.key);
    const old = oldLabel(key);
    const wrong = values ? texts(expression.values) : [];
    return [
      ...(old === undefined ? [] : [`${here}.key: ${key} is ${old}`]),
      ...wrong.flatMap((value, j) =>
        labelValueErrors(value).map((message) => `${here}.values[${j}]: ${value} is invalid, ${message}`),
      ),
    ];
  });
}

import { ConfigError, lookup, matchesLabels, parseLabelSelector } from "@lotse/client/meta";
import { type ApiObject, listAt, objectAt } from "../registry/index.ts";
import { annotatedBehaviour } from "./annotation.ts";
import type { ContainerBehaviour, PodBehaviour, PodMatcher, SimulatedPod } from "./behaviour.ts";

/**
 * What simulated pods do: nothing but run, unless a program says more, or their annotation `lotse.dev/simulate`.
 *
 * @example
 * ```ts
 * cluster.pods.program({ labels: "app=web" }, { exec: { "cat /etc/hostname": "web\n" }, logs: ["up"] });
 * cluster.pods.program("worker", { exit: { code: 1, after: "5s" } }); // and again, with a growing back-off
 * ```
 */
export class PodPrograms {
  readonly #programs: { readonly matches: (pod: SimulatedPod) => boolean; readonly behaviour: PodBehaviour }[] = [];

  /**
   * Says what pods do: answers to exec, attach and connections from now on, the rest from their next start on. Where
   * several programs fit, later ones count more, field by field. The returned function takes it back.
   */
  program(matcher: PodMatcher, behaviour: PodBehaviour): () => void {
    const entry = { matches: compile(matcher), behaviour };
    this.#programs.push(entry);
    return () => {
      const at = this.#programs.indexOf(entry);
      if (at >= 0) this.#programs.splice(at, 1);
    };
  }

  /** Called by the node: all that was said about a pod, by its annotation first. Throws when that makes no sense. */
  behaviourOf(pod: SimulatedPod): PodBehaviour {
    const said = annotatedBehaviour(objectAt(pod.body, "metadata", "annotations"));
    const programs = this.#programs.filter(({ matches }) => matches(pod)).map(({ behaviour }) => behaviour);
    const found = [said, ...programs];
    return Object.assign({}, ...found, { containers: mergeContainers(found) }) as PodBehaviour;
  }
}

function mergeContainers(behaviours: readonly PodBehaviour[]): Record<string, ContainerBehaviour> {
  const merged: Record<string, ContainerBehaviour> = {};
  for (const { containers = {} } of behaviours) {
    for (const [name, behaviour] of Object.entries(containers))
      merged[name] = { ...lookup(merged, name), ...behaviour };
  }
  return merged;
}

/** What a program says about one container of the pod. */
export function containerBehaviour(behaviour: PodBehaviour, container: string): ContainerBehaviour {
  const { containers, startDelay: _, evicted: __, failed: ___, ...shared } = behaviour;
  return { ...shared, ...lookup(containers, container) };
}

/** A pod as programs of tests see it. */
export function simulatedPod(pod: ApiObject): SimulatedPod {
  const { name, namespace = "", labels = {} } = pod.metadata;
  return { name, namespace, labels, body: pod as unknown as Readonly<Record<string, unknown>> };
}

function compile(matcher: PodMatcher): (pod: SimulatedPod) => boolean {
  if (typeof matcher === "function") return matcher;
  if (typeof matcher === "string") {
    const [first, second, ...more] = matcher.split("/");
    if (!first || second === "" || more.length > 0) {
      throw new ConfigError(`${JSON.stringify(matcher)} names no pod`, {
        hint: 'write "name", "namespace/name", { labels: "app=web" } or a function',
      });
    }
    return second === undefined ? (pod) => pod.name === first : (pod) => pod.namespace === first && pod.name === second;
  }
  const { name, namespace, image } = matcher;
  const labels = matcher.labels === undefined ? undefined : parseLabelSelector(matcher.labels);
  return (pod) =>
    (name === undefined || fits(name, pod.name)) &&
    (namespace === undefined || namespace === pod.namespace) &&
    (labels === undefined || matchesLabels(labels, pod.labels)) &&
    (image === undefined || listAt(pod.body, "spec", "containers").some((c) => fits(image, String(c.image))));
}

const fits = (pattern: string | RegExp, text: string): boolean =>
  typeof pattern === "string" ? pattern === text : pattern.test(text);

/** Containers that get more or less of what they have, while they run. */
import { deepEqual } from "@lotse/client/meta";
import type { EventNote } from "../controllers/index.ts";
import { type ApiObject, isRecord, listAt, objectAt, timestamp } from "../registry/index.ts";

type Fields = Readonly<Record<string, unknown>>;

/** Why a node cannot give a pod what it wants now. */
export interface Shortage {
  readonly message: string;
}

interface Stage {
  readonly generation: number | undefined;
  readonly since: number;
  readonly message?: string;
}

/** What the containers of a pod were given, and what they have got. */
export class PodSize {
  readonly #given: Map<string, Fields>;
  readonly #had: Map<string, Fields>;
  #pending: Stage | undefined;
  #progress: Stage | undefined;

  constructor(pod: ApiObject) {
    this.#given = resourcesOf(pod);
    this.#had = resourcesOf(pod);
  }

  /** What a container is entitled to. */
  given(container: string): Fields {
    return this.#given.get(container) ?? {};
  }

  /** What it has at the moment. */
  had(container: string): Fields {
    return this.#had.get(container) ?? {};
  }

  get inProgress(): boolean {
    return this.#progress !== undefined;
  }

  /** Containers that do not have yet what they were given, as they were and as they will be. */
  get changing(): { readonly name: string; readonly before: Fields; readonly after: Fields }[] {
    return [...this.#given]
      .map(([name, after]) => ({ name, before: this.had(name), after }))
      .filter(({ before, after }) => !deepEqual(before, after));
  }

  /** The container has now what it was given. */
  settle(container: string): void {
    this.#had.set(container, this.given(container));
  }

  /** Asks for what the spec wants, when that is something else; the events that tell what came of it. */
  ask(pod: ApiObject, allocate: (pod: ApiObject) => Shortage | undefined, now: number): EventNote[] {
    const wanted = resourcesOf(pod);
    if ([...wanted].every(([name, resources]) => deepEqual(resources, this.given(name)))) {
      this.#pending = undefined;
      return [];
    }
    const { generation } = pod.metadata;
    const shortage = allocate(pod);
    if (shortage) {
      const { message } = shortage;
      const known = this.#pending?.message === message && this.#pending.generation === generation;
      if (!known) this.#pending = { generation, message, since: this.#pending?.since ?? now };
      if (known) return [];
      return [
        {
          type: "Warning",
          reason: "ResizeDeferred",
          message: summary("Pod resize Deferred", pod, generation, message),
        },
      ];
    }
    for (const [name, resources] of wanted) this.#given.set(name, resources);
    this.#pending = undefined;
    this.#progress = { generation, since: now };
    return [{ type: "Normal", reason: "ResizeStarted", message: summary("Pod resize started", pod, generation) }];
  }

  /** All containers have what they were given. */
  finish(pod: ApiObject): EventNote {
    const message = summary("Pod resize completed", pod, this.#progress?.generation);
    this.#progress = undefined;
    return { type: "Normal", reason: "ResizeCompleted", message };
  }

  /** What the status says about it. */
  conditions(): Fields[] {
    const condition = (type: string, { generation, since, message }: Stage): Fields => ({
      type,
      ...(generation === undefined ? {} : { observedGeneration: generation }),
      status: "True",
      lastProbeTime: timestamp(since),
      lastTransitionTime: timestamp(since),
      ...(message === undefined ? {} : { reason: "Deferred", message }),
    });
    return [
      ...(this.#pending ? [condition("PodResizePending", this.#pending)] : []),
      ...(this.#progress ? [condition("PodResizeInProgress", this.#progress)] : []),
    ];
  }
}

/** What each container asks for. */
export function resourcesOf(pod: ApiObject): Map<string, Fields> {
  const all = [...listAt(pod, "spec", "initContainers"), ...listAt(pod, "spec", "containers")];
  return new Map(all.map(({ name, resources }) => [String(name), isRecord(resources) ? resources : {}]));
}

/** Whether a container has to be started anew to get its new resources. */
export function needsRestart(container: Fields, before: Fields, after: Fields): boolean {
  return listAt(container, "resizePolicy").some(({ resourceName, restartPolicy }) => {
    const differs = (kind: string) =>
      objectAt(before, kind)[String(resourceName)] !== objectAt(after, kind)[String(resourceName)];
    return restartPolicy === "RestartContainer" && (differs("requests") || differs("limits"));
  });
}

/** In the order in which a kubelet writes it. */
function sorted(resources: unknown): Fields {
  const amounts = (kind: string) => {
    const all = Object.entries(objectAt(resources, kind)).sort(([a], [b]) => (a < b ? -1 : 1));
    return all.length === 0 ? {} : { [kind]: Object.fromEntries(all) };
  };
  return { ...amounts("limits"), ...amounts("requests") };
}

function summary(what: string, pod: ApiObject, generation: number | undefined, error?: string): string {
  const list = (key: string) => {
    const all = listAt(pod, "spec", key).map(({ name, resources }) => ({ name, resources: sorted(resources) }));
    return all.length === 0 ? {} : { [key]: all };
  };
  const text = { ...list("initContainers"), ...list("containers"), generation: generation ?? 0 };
  return `${what}: ${JSON.stringify(error === undefined ? text : { ...text, error })}`;
}

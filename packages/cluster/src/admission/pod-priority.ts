import { lookup } from "@lotse/client/meta";
import {
  type AdmissionAttributes,
  type ApiObject,
  admitPod,
  ensureObject,
  fromStore,
  objectAt,
} from "../registry/index.ts";
import type { AdmissionPlugin } from "./chain.ts";
import { type AdmissionBackend, refused } from "./request.ts";

const CLASSES = "priorityclasses.scheduling.k8s.io";
/** Classes that every cluster has, whether an object says so or not. */
const SYSTEM_CLASSES: Readonly<Record<string, number>> = {
  "system-cluster-critical": 2_000_000_000,
  "system-node-critical": 2_000_001_000,
};

interface Priority {
  readonly name: string;
  readonly value: number;
  readonly preemptionPolicy: string;
}

/** Turns the PriorityClass of a new pod into a number, gives it what every new pod gets, and sees to it that only one class is the default. */
export function podPriority(backend: AdmissionBackend): AdmissionPlugin {
  return {
    mutate(attributes) {
      const { endpoint, operation, subresource, object, oldObject } = attributes;
      if (endpoint.resource.table !== "pods" || subresource !== undefined || !object) return object;
      const spec = ensureObject(object, "spec");
      if (operation === "CREATE") {
        resolve(backend, attributes, spec);
        admitPod(spec);
      } else if (operation === "UPDATE" && oldObject) {
        const old = objectAt(oldObject, "spec");
        for (const key of ["priority", "preemptionPolicy"]) {
          if (spec[key] === undefined && old[key] !== undefined) spec[key] = old[key];
        }
      }
      return object;
    },
    validate(attributes) {
      const { endpoint, operation, subresource, object } = attributes;
      if (endpoint.resource.table !== CLASSES || subresource !== undefined || object?.globalDefault !== true) return;
      const known = defaultClass(backend);
      if (!known || (operation === "UPDATE" && known.metadata.name === object.metadata.name)) return;
      const text = `PriorityClass ${known.metadata.name} is already marked as default. Only one default can exist`;
      throw refused(attributes, text);
    },
  };
}

function resolve(backend: AdmissionBackend, attributes: AdmissionAttributes, spec: Record<string, unknown>): void {
  const wanted = typeof spec.priorityClassName === "string" ? spec.priorityClassName : "";
  const priority = wanted === "" ? defaultPriority(backend) : namedPriority(backend, attributes, wanted);
  if (priority.name !== "") spec.priorityClassName = priority.name;
  const computed = "priority admission controller computed";
  if (spec.priority !== undefined && spec.priority !== null && spec.priority !== priority.value) {
    const text = `the integer value of priority (${spec.priority}) must not be provided in pod spec; ${computed} ${priority.value} from the given PriorityClass name`;
    throw refused(attributes, text);
  }
  spec.priority = priority.value;
  const policy = spec.preemptionPolicy;
  if (typeof policy === "string" && policy !== "" && policy !== priority.preemptionPolicy) {
    const text = `the string value of PreemptionPolicy (${policy}) must not be provided in pod spec; ${computed} ${priority.preemptionPolicy} from the given PriorityClass name`;
    throw refused(attributes, text);
  }
  spec.preemptionPolicy = priority.preemptionPolicy;
}

function toPriority(found: ApiObject): Priority {
  return {
    name: found.metadata.name,
    value: typeof found.value === "number" ? found.value : 0,
    preemptionPolicy: typeof found.preemptionPolicy === "string" ? found.preemptionPolicy : "PreemptLowerPriority",
  };
}

function namedPriority({ store }: AdmissionBackend, attributes: AdmissionAttributes, name: string): Priority {
  const entry = store.get(CLASSES, name);
  if (entry) return toPriority(fromStore(entry.object));
  const value = lookup(SYSTEM_CLASSES, name);
  if (value !== undefined) return { name, value, preemptionPolicy: "PreemptLowerPriority" };
  throw refused(attributes, `no PriorityClass with name ${name} was found`);
}

function defaultPriority(backend: AdmissionBackend): Priority {
  const found = defaultClass(backend);
  return found ? toPriority(found) : { name: "", value: 0, preemptionPolicy: "PreemptLowerPriority" };
}

/** The lowest one, should there be several. */
function defaultClass({ store }: AdmissionBackend): ApiObject | undefined {
  if (store.count(CLASSES) === 0) return undefined;
  const marked = store
    .list(CLASSES)
    .map((entry) => fromStore(entry.object))
    .filter((candidate) => candidate.globalDefault === true);
  return marked.sort((a, b) => Number(a.value) - Number(b.value))[0];
}

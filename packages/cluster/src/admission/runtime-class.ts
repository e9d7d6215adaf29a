import { lookup } from "@lotse/client/meta";
import {
  type AdmissionAttributes,
  type Amounts,
  type ApiObject,
  ensureObject,
  fromStore,
  isRecord,
  listAt,
  objectAt,
  readAmounts,
} from "../registry/index.ts";
import type { AdmissionPlugin } from "./chain.ts";
import { type AdmissionBackend, refused } from "./request.ts";

type Fields = Record<string, unknown>;

const CLASSES = "runtimeclasses.node.k8s.io";
const MISMATCH = "pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead";

/** Gives a new pod what its RuntimeClass says about it: what it costs beyond its containers, and where it can run. */
export function runtimeClass(backend: AdmissionBackend): AdmissionPlugin {
  return {
    mutate(attributes) {
      const { object } = attributes;
      if (!isNewPod(attributes) || !object) return object;
      const found = classOf(backend, attributes, object);
      if (found) {
        const spec = ensureObject(object, "spec");
        setOverhead(attributes, spec, found);
        setScheduling(attributes, spec, found);
      }
      return object;
    },
    validate(attributes) {
      const { object } = attributes;
      if (!isNewPod(attributes) || !object) return;
      const found = classOf(backend, attributes, object);
      const { overhead } = objectAt(object, "spec");
      if (isRecord(found?.overhead)) {
        const { podFixed } = objectAt(found, "overhead");
        if (!sameAmounts(readAmounts(podFixed), readAmounts(overhead))) throw refused(attributes, MISMATCH);
      } else if (overhead !== undefined && overhead !== null) {
        throw refused(attributes, "pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead");
      }
    },
  };
}

const isNewPod = ({ endpoint, operation, subresource }: AdmissionAttributes): boolean =>
  endpoint.resource.table === "pods" && subresource === undefined && operation === "CREATE";

function classOf({ store }: AdmissionBackend, attributes: AdmissionAttributes, pod: ApiObject): ApiObject | undefined {
  const { runtimeClassName } = objectAt(pod, "spec");
  if (typeof runtimeClassName !== "string") return undefined;
  const entry = store.get(CLASSES, runtimeClassName);
  if (!entry) throw refused(attributes, `pod rejected: RuntimeClass ${JSON.stringify(runtimeClassName)} not found`);
  return fromStore(entry.object);
}

function setOverhead(attributes: AdmissionAttributes, spec: Fields, found: ApiObject): void {
  if (!isRecord(found.overhead)) return;
  const { podFixed } = found.overhead;
  const own = readAmounts(spec.overhead);
  if (own.size > 0 && !sameAmounts(own, readAmounts(podFixed))) throw refused(attributes, MISMATCH);
  if (isRecord(podFixed)) spec.overhead = structuredClone(podFixed);
}

function sameAmounts(a: Amounts, b: Amounts): boolean {
  return a.size === b.size && [...a].every(([name, { nanos }]) => b.get(name)?.nanos === nanos);
}

function setScheduling(attributes: AdmissionAttributes, spec: Fields, found: ApiObject): void {
  if (!isRecord(found.scheduling)) return;
  const wanted = objectAt(found, "scheduling", "nodeSelector");
  const own = objectAt(spec, "nodeSelector");
  for (const [key, value] of Object.entries(wanted)) {
    const mine = lookup(own, key);
    if (mine !== undefined && mine !== value) {
      const text = `conflict: runtimeClass.scheduling.nodeSelector[${key}] = ${value}; pod.spec.nodeSelector[${key}] = ${mine}`;
      throw refused(attributes, text);
    }
  }
  if (Object.keys(wanted).length > 0) spec.nodeSelector = { ...own, ...wanted };
  const tolerations = mergeTolerations(listAt(spec, "tolerations"), listAt(found, "scheduling", "tolerations"));
  if (tolerations.length > 0) spec.tolerations = structuredClone(tolerations);
}

/** All of both, without those that another one covers. Pure. */
export function mergeTolerations(first: readonly Fields[], second: readonly Fields[]): Fields[] {
  const all = [...first, ...second];
  const merged: Fields[] = [];
  for (const [at, one] of all.entries()) {
    const covered = merged.some((other) => covers(other, one));
    if (!covered && !all.slice(at + 1).some((other) => !same(one, other) && covers(other, one))) merged.push(one);
  }
  return merged;
}

function same(a: Fields, b: Fields): boolean {
  return ["key", "operator", "value", "effect", "tolerationSeconds"].every(
    (field) => (a[field] ?? "") === (b[field] ?? ""),
  );
}

function covers(large: Fields, small: Fields): boolean {
  if (same(large, small)) return true;
  const all = !large.key && large.operator === "Exists";
  if ((small.key ?? "") !== (large.key ?? "") && !all) return false;
  if (large.effect && small.effect !== large.effect) return false;
  if (large.effect === "NoExecute" && typeof large.tolerationSeconds === "number") {
    const { tolerationSeconds } = small;
    if (typeof tolerationSeconds !== "number" || tolerationSeconds > large.tolerationSeconds) return false;
  }
  if (large.operator === "Exists") return true;
  return (
    (large.operator || "Equal") === "Equal" && small.operator === "Equal" && (small.value ?? "") === (large.value ?? "")
  );
}

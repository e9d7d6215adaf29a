/** The report of what others have changed. */
import type { DriftedField } from "lotse";
import type { KubeObject, Namespace } from "lotse/client";

/** One change that was undone. */
export interface Report {
  /** When it was done, as far as the server tells; else when it was seen. */
  readonly at: string;
  /** `ResourceQuota team` */
  readonly object: string;
  /** `spec.hard.pods was 500, not 20` */
  readonly what: string;
  /** Under which names it was written, as far as the server tells: `kubectl-edit`. */
  readonly by: string;
}

/** So many are remembered. */
const MOST = 10;

/** Adds what is not in the list already; the newest are kept. */
export function withReports(list: readonly Report[], news: readonly Report[]): Report[] {
  const key = ({ at, object, what, by }: Report) => JSON.stringify([at, object, what, by]);
  const known = new Set(list.map(key));
  return [...list, ...news.filter((report) => !known.has(key(report)))].slice(-MOST);
}

/** Somebody has changed a field of an object. */
export function changed(object: KubeObject, { path, live, wanted, by }: DriftedField, now: Date): Report {
  const writes = (object.metadata.managedFields ?? []).filter(({ manager = "" }) => by.includes(manager));
  const times = writes.map(({ time = "" }) => time).sort();
  const what = `${path} was ${say(live)}, not ${say(wanted)}`;
  return { at: times.at(-1) || now.toISOString(), object: nameOf(object), what, by: by.join(", ") };
}

/** Somebody has deleted an object; the server does not tell who. */
export function deleted(object: string, now: Date): Report {
  return { at: now.toISOString(), object, what: "it was deleted", by: "" };
}

/** `ResourceQuota team` */
export function nameOf({ description, name }: KubeObject): string {
  return `${description.kind} ${name}`;
}

/** The labels of a namespace that are not as they shall be. */
export function wrongLabels(namespace: Namespace, wanted: Readonly<Record<string, string>>): DriftedField[] {
  return Object.entries(wanted)
    .filter(([label, value]) => namespace.labels[label] !== value)
    .map(([label, value]) => {
      const live = namespace.labels[label];
      return { path: `metadata.labels[${label}]`, live, wanted: value, by: setterOf(namespace, label) };
    });
}

/** Who has set a label; nobody, if it was taken away. */
function setterOf({ metadata }: KubeObject, label: string): string[] {
  type Fields = { "f:metadata"?: { "f:labels"?: Record<string, unknown> } };
  return (metadata.managedFields ?? [])
    .filter(({ fieldsV1 }) => `f:${label}` in ((fieldsV1 as Fields)?.["f:metadata"]?.["f:labels"] ?? {}))
    .map(({ manager = "" }) => manager);
}

function say(value: unknown): string {
  if (value === undefined) return "nothing";
  return typeof value === "string" ? value : JSON.stringify(value);
}

/**
 * An object of one version of its kind in another one: hub and spokes, over the version that is stored. What a version
 * cannot hold travels along and is put back on the way home. Pure.
 */
import type { KubeBody } from "@lotse/client";
import { deepEqual, isObject } from "@lotse/client/meta";
import { RECORD_FIELD, type SchemaNode, validateValue, withDefaults, withoutUnknown } from "../../schema/index.ts";
import { type ConvertFunction, callConversion, type Returned } from "./call.ts";
import { type Carried, KEPT_ANNOTATION, load, unload } from "./carry.ts";
import { type ConversionAbout, ConversionError } from "./errors.ts";
import { differences, type KeptFields, keptPaths, restore, singly } from "./kept.ts";
import type { ConvertedKind } from "./kind.ts";

/** One way between the stored version and another one. */
interface Way {
  readonly kind: ConvertedKind;
  readonly from: string;
  readonly to: string;
  readonly there: ConvertFunction;
  readonly back: ConvertFunction;
  /** Whether the result is what will be stored: then nothing may be lost, and rather nothing is written. */
  readonly stored: boolean;
}

/**
 * `body` in the version `version` of its kind. Throws a {@link ConversionError} that names object, versions and, where
 * it is known, the field.
 */
export function convertBody(kind: ConvertedKind, body: KubeBody, version: string): KubeBody {
  const from = versionOf(kind, body, version);
  if (from === version) return body;
  const { storageVersion } = kind;
  let form = body;
  if (from !== storageVersion) form = spoke(kind, form, from, storageVersion, version === storageVersion);
  if (version !== storageVersion) form = spoke(kind, form, storageVersion, version, false);
  return form;
}

function versionOf(kind: ConvertedKind, body: KubeBody, version: string): string {
  const [group = "", from = ""] = (body.apiVersion ?? "").split("/");
  const about = aboutOf(body, from, version);
  const known = kind.versions.map(({ name }) => name);
  if (group !== kind.group || body.kind !== kind.kind) {
    throw new ConversionError(about, `it is not of the kind ${kind.kind}.${kind.group}`);
  }
  for (const one of [from, version]) {
    if (known.includes(one)) continue;
    throw new ConversionError(about, `${kind.kind} has no version ${one}; it has ${known.join(", ")}`);
  }
  return from;
}

function aboutOf({ kind, metadata }: KubeBody, from: string, to: string): ConversionAbout {
  const { namespace, name, generateName } = metadata ?? {};
  const called = name ?? (generateName === undefined ? "(without a name)" : `${generateName}…`);
  return { object: `${kind} ${namespace === undefined ? "" : `${namespace}/`}${called}`, from, to };
}

function spoke(kind: ConvertedKind, body: KubeBody, from: string, to: string, stored: boolean): KubeBody {
  const home = to === kind.storageVersion;
  const conversion = kind.conversions.get(home ? from : to);
  // Versions of equal schemas need no functions.
  if (!conversion) return { ...body, apiVersion: `${kind.group}/${to}` };
  const [there, back] = home ? [conversion.to, conversion.from] : [conversion.from, conversion.to];
  return travel({ kind, from, to, there, back, stored }, body);
}

function travel(way: Way, body: KubeBody): KubeBody {
  const { kind, from, to, there } = way;
  const about = aboutOf(body, from, to);
  if (!kind.lossless) return assemble(way, body, callConversion(there, body, about), to, about);
  const { body: bare, carried } = unload(body);
  if (way.stored) refuseLoss(carried, about);
  const converted = assemble(way, bare, callConversion(there, bare, about), to, about);
  const { result, lost } = settle(way, bare, converted, carried.kept.get(to), about);
  // What was kept for a version that is gone by now goes as well.
  const kept = new Map([...carried.kept].filter(([holder]) => kind.versions.some(({ name }) => name === holder)));
  if (lost === undefined) kept.delete(from);
  else kept.set(from, lost);
  kept.delete(to);
  const tooLarge = new Map(carried.tooLarge);
  if (way.stored) tooLarge.clear();
  else tooLarge.delete(from);
  const loaded = load(result, { kept, tooLarge });
  if (way.stored) refuseTooLarge(loaded.left, about);
  return loaded.body;
}

/** What could not be read or kept before would be lost for good now. */
function refuseLoss({ tooLarge, damaged }: Carried, about: ConversionAbout): void {
  refuseTooLarge(tooLarge, about);
  if (!damaged) return;
  const why = `its annotation ${KEPT_ANNOTATION} cannot be read; write it as it was read, or leave it out to give up what ${about.from} cannot hold`;
  throw new ConversionError(about, why, { field: "metadata.annotations" });
}

function refuseTooLarge(tooLarge: ReadonlyMap<string, number>, about: ConversionAbout): void {
  const [first] = tooLarge;
  if (!first) return;
  const [holder, bytes] = first;
  const size = `${Math.ceil(bytes / 1024)} KiB`;
  const why = `what only ${holder} can hold of it has ${size}, too much to be kept in an annotation; write it as ${holder}`;
  throw new ConversionError(about, why);
}

function schemaOf({ versions }: ConvertedKind, version: string): SchemaNode {
  return versions.find(({ name }) => name === version)?.schema() ?? {};
}

/** The whole object of what a function returned: as it came, where the function returned nothing. */
function assemble(
  way: Pick<Way, "kind">,
  body: KubeBody,
  returned: Returned,
  to: string,
  about: ConversionAbout,
): KubeBody {
  const made: KubeBody = {
    apiVersion: `${way.kind.group}/${to}`,
    kind: body.kind as string,
    metadata: metadataOf(body, returned, about) as NonNullable<KubeBody["metadata"]>,
    spec: returned.spec,
  };
  const status = statusOf(body, returned);
  if (status !== undefined) made.status = status;
  return withoutUnknown(made, schemaOf(way.kind, to));
}

/** A function that makes another status has no need to know of the record in it. */
function statusOf({ status: before }: KubeBody, returned: Returned): unknown {
  if (!Object.hasOwn(returned, "status")) return before;
  const record = isObject(before) ? before[RECORD_FIELD] : undefined;
  const { status } = returned;
  if (record === undefined || (isObject(status) && Object.hasOwn(status, RECORD_FIELD))) return status;
  return status === undefined || isObject(status) ? { ...status, [RECORD_FIELD]: record } : status;
}

function metadataOf({ metadata = {} }: KubeBody, returned: Returned, about: ConversionAbout): object {
  if (!Object.hasOwn(returned, "metadata") || returned.metadata === undefined) return metadata;
  if (!isObject(returned.metadata)) throw new ConversionError(about, "is not an object", { field: "metadata" });
  const { labels, annotations, ...rest } = returned.metadata;
  const before = metadata as Record<string, unknown>;
  for (const key of new Set([...Object.keys(before), ...Object.keys(rest)])) {
    if (key === "labels" || key === "annotations" || deepEqual(before[key], rest[key])) continue;
    const [was, is] = [before[key], rest[key]].map((value) => (value === undefined ? "none" : JSON.stringify(value)));
    const why = `the conversion changes it from ${was} to ${is}, and may change labels and annotations only`;
    throw new ConversionError(about, why, { field: `metadata.${key}` });
  }
  for (const [field, marks] of Object.entries({ labels, annotations })) {
    const text = isObject(marks) && Object.values(marks).every((value) => typeof value === "string");
    if (marks !== undefined && !text) {
      throw new ConversionError(about, "the values have to be texts", { field: `metadata.${field}` });
    }
  }
  const { labels: _labels, annotations: _annotations, ...same } = before;
  return { ...same, ...(labels !== undefined && { labels }), ...(annotations !== undefined && { annotations }) };
}

/** More differences than these are not looked at one by one. */
const MOST_SINGLY = 100;

/**
 * With what was kept of it, as far as the object still means what it says: where two fields of one version are one of the
 * other, and a client has changed that one, what was kept of the second field would change it again.
 */
function settle(
  way: Way,
  body: KubeBody,
  converted: KubeBody,
  kept: KeptFields | undefined,
  about: ConversionAbout,
): { readonly result: KubeBody; readonly lost: KeptFields | undefined } {
  const whole = kept ? putBack(way, converted, kept, about) : converted;
  const lost = lossOf(way, body, whole);
  if (!kept || !lost) return { result: whole, lost };
  let settled = { result: converted, lost: lossOf(way, body, converted) };
  const unavoidable = new Set(settled.lost && keptPaths(settled.lost));
  const isHarmless = (loss: KeptFields | undefined) => !loss || keptPaths(loss).every((path) => unavoidable.has(path));
  if (isHarmless(lost)) return { result: whole, lost };
  for (const one of singly(kept).slice(0, MOST_SINGLY)) {
    const result = putBack(way, settled.result, one, about);
    const loss = lossOf(way, body, result);
    if (isHarmless(loss)) settled = { result, lost: loss };
  }
  return settled;
}

/** With what was kept of it. Who may write the object may write the annotation: values of wrong types are not taken. */
function putBack(way: Way, converted: KubeBody, kept: KeptFields, about: ConversionAbout): KubeBody {
  const schema = schemaOf(way.kind, way.to);
  const shown = withStatus(withDefaults(converted, schema));
  const restored = withoutUnknown(restore(kept, converted, shown, schema) as KubeBody, schema);
  const before = validateValue(converted, schema, { onlyTypes: true });
  const [wrong] = validateValue(restored, schema, { onlyTypes: true }).filter(
    (problem) => !before.some((one) => deepEqual(one, problem)),
  );
  if (!wrong) return restored;
  if (!way.stored) return converted;
  const why = `the annotation ${KEPT_ANNOTATION} puts it back as what ${way.to} does not take: it ${wrong.what}`;
  throw new ConversionError(about, why, { field: wrong.path });
}

/** No status and an empty one are the same, and whoever fills it does not do away with what was kept of it. */
function withStatus(body: KubeBody): KubeBody {
  return body.status === undefined ? { ...body, status: {} } : body;
}

/** What the way back of `result` does not give again of `body`. */
function lossOf({ kind, from, to, back }: Way, body: KubeBody, result: KubeBody): KeptFields | undefined {
  const schema = schemaOf(kind, from);
  const shape = (one: KubeBody) => {
    const { spec, status } = withStatus(withDefaults(one, schema)) as { spec?: unknown; status?: unknown };
    return { ...(spec !== undefined && { spec }), status };
  };
  let returned: KubeBody | undefined;
  try {
    const about = aboutOf(result, to, from);
    returned = assemble({ kind }, result, callConversion(back, result, about), from, about);
  } catch {
    // There is no way back for it now. Who reads it is not to be stopped by that, and every field of it is kept.
    returned = undefined;
  }
  return differences(shape(returned ?? { ...body, spec: {} }), shape(body), schema);
}

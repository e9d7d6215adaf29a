import { deepClone, deepEqual, labelValueErrors, qualifiedNameErrors } from "@lotse/client/meta";
import type { Converter } from "../codec.ts";
import { bareInternal } from "../errors.ts";
import { checkReviewKind, type HookClient, HookError, type HookTarget } from "../hook-client.ts";
import { type ApiMeta, type ApiObject, isRecord } from "../object.ts";
import { type Endpoint, gvkOf } from "../resource.ts";
import type { Crd } from "./crd.ts";

/** An object of one version of a kind in another one. */
export async function convertObject(object: ApiObject, from: Endpoint, to: Endpoint): Promise<ApiObject> {
  if (from.version === to.version) return object;
  if (!from.resource.custom) return to.version.codec.fromStorage(from.version.codec.toStorage(object));
  const { apiVersion } = gvkOf(to);
  const { converter } = to.version.codec;
  if (!converter) return { ...object, apiVersion };
  const [converted] = await converter.convert([object], apiVersion);
  return converted as ApiObject;
}

/** A webhook that does not say how long it may take is given this long. */
const TIMEOUT_SECONDS = 30;

/** The converter of a definition whose strategy is a webhook; undefined for any other. */
export function webhookConverter(crd: Crd, client: HookClient, uuid: () => string): Converter | undefined {
  const { conversion } = crd.spec;
  if (conversion?.strategy !== "Webhook") return undefined;
  const webhook = conversion.webhook ?? {};
  const target = (isRecord(webhook.clientConfig) ? webhook.clientConfig : {}) as HookTarget;
  const versions = Array.isArray(webhook.conversionReviewVersions) ? webhook.conversionReviewVersions : [];
  const version = versions.find((known) => known === "v1" || known === "v1beta1") as string | undefined;
  return {
    async convert(objects, apiVersion) {
      const wrong = objects.filter((object) => object.apiVersion !== apiVersion);
      const [first] = wrong;
      if (!first) return [...objects];
      if (version === undefined) throw bareInternal("no supported conversion review versions");
      const call: Call = { client, target, version, apiVersion, uid: uuid(), about: describe(first, objects, crd) };
      const converted = await ask(call, wrong);
      const single = objects.length === 1;
      const made = converted.map((object, i) => accept(call, wrong[i] as ApiObject, object, i, single));
      return objects.map((object) => (object.apiVersion === apiVersion ? object : (made.shift() as ApiObject)));
    },
  };
}

interface Call {
  readonly client: HookClient;
  readonly target: HookTarget;
  readonly version: string;
  readonly apiVersion: string;
  readonly uid: string;
  /** What the server says it wanted to convert: `example.com/v1, Kind=Widget`. */
  readonly about: string;
}

function describe(first: ApiObject, objects: readonly ApiObject[], crd: Crd): string {
  const kind = objects.length === 1 ? first.kind : (crd.spec.names.listKind ?? `${crd.spec.names.kind}List`);
  return `${first.apiVersion}, Kind=${kind}`;
}

async function ask(call: Call, objects: readonly ApiObject[]): Promise<unknown[]> {
  const { client, target, version, apiVersion, uid, about } = call;
  const body = {
    kind: "ConversionReview",
    apiVersion: `apiextensions.k8s.io/${version}`,
    request: { uid, desiredAPIVersion: apiVersion, objects },
    // A real server sends an empty answer along.
    response: { uid: "", convertedObjects: null, result: { metadata: {} } },
  };
  let answer: unknown;
  try {
    answer = await client.post(target, body, TIMEOUT_SECONDS);
    checkReviewKind(isRecord(answer) ? answer : {}, {
      group: "apiextensions.k8s.io",
      version,
      kind: "ConversionReview",
    });
  } catch (error) {
    if (error instanceof HookError) throw bareInternal(`conversion webhook for ${about} failed: ${error.message}`);
    throw error;
  }
  const converted = readAnswer(answer, version, uid);
  if ("error" in converted) throw bareInternal(`conversion webhook for ${about} failed: ${converted.error}`);
  if (converted.objects.length !== objects.length) {
    const counts = `returned ${converted.objects.length} objects, expected ${objects.length}`;
    throw bareInternal(`conversion webhook for ${about} ${counts}`);
  }
  return converted.objects;
}

function readAnswer(answer: unknown, version: string, uid: string): { error: string } | { objects: unknown[] } {
  const review = isRecord(answer) ? answer : {};
  const response = isRecord(review.response) ? review.response : undefined;
  if (version === "v1") {
    const expected = "apiextensions.k8s.io/v1, Kind=ConversionReview";
    const apiVersion = typeof review.apiVersion === "string" ? review.apiVersion : "";
    const kind = typeof review.kind === "string" ? review.kind : "";
    const got = `${apiVersion.includes("/") ? apiVersion : `/${apiVersion}`}, Kind=${kind}`;
    if (got !== expected) return { error: `expected webhook response of ${expected}, got ${got}` };
    const given = typeof response?.uid === "string" ? response.uid : "";
    if (response && given !== uid) {
      return { error: `expected response.uid=${JSON.stringify(uid)}, got ${JSON.stringify(given)}` };
    }
  }
  if (!response) return { error: "no response provided" };
  const result = isRecord(response.result) ? response.result : {};
  if (result.status !== "Success") {
    if (typeof result.message === "string" && result.message !== "") return { error: result.message };
    return { error: `response.result.status was '${String(result.status ?? "")}', not 'Success'` };
  }
  return { objects: Array.isArray(response.convertedObjects) ? response.convertedObjects : [] };
}

/** What the webhook made, if it is what it was asked for: only labels and annotations of the metadata may change. */
function accept(call: Call, original: ApiObject, converted: unknown, index: number, single: boolean): ApiObject {
  const { about, apiVersion } = call;
  const part = (name: string) => (single ? `${name}` : `${name} at index ${index}`);
  const fail = (what: string, why: string) => bareInternal(`conversion webhook for ${about} returned ${what}: ${why}`);
  const object = isRecord(converted) ? converted : {};
  const place = single ? "invalid object at index 0" : `invalid converted object at index ${index}`;
  if (object.apiVersion !== apiVersion) {
    throw fail(place, `invalid groupVersion (expected ${apiVersion}, received ${String(object.apiVersion ?? "")})`);
  }
  if (object.kind !== original.kind) {
    throw fail(place, `invalid kind (expected ${original.kind}, received ${String(object.kind ?? "")})`);
  }
  const meta = isRecord(object.metadata) ? object.metadata : {};
  for (const [key, name] of [
    ["name", "name"],
    ["namespace", "namespace"],
    ["uid", "UID"],
  ] as const) {
    const before = original.metadata[key] ?? "";
    const after = meta[key] ?? "";
    if (before !== after) {
      const what = single ? "invalid object" : `invalid converted object at index ${index}`;
      throw fail(what, `must have the same ${name}: ${before} != ${String(after)}`);
    }
  }
  if (!isRecord(object.metadata)) throw fail(part("invalid metadata"), "missing metadata in converted object");
  const metadata = withMarks(original.metadata, meta, (why) =>
    fail(single ? "invalid metadata" : `invalid metadata in object at index ${index}`, why),
  );
  return { ...object, metadata } as ApiObject;
}

/** The type that a server written in Go reads a value into. */
function goType(value: unknown): string {
  if (typeof value === "number") return Number.isInteger(value) ? "int64" : "float64";
  if (typeof value === "boolean") return "bool";
  if (Array.isArray(value)) return "[]interface {}";
  return isRecord(value) ? "map[string]interface {}" : typeof value;
}

function withMarks(original: ApiMeta, converted: Record<string, unknown>, fail: (why: string) => Error): ApiMeta {
  const { labels: _, annotations: __, ...rest } = deepClone(original);
  const metadata: ApiMeta = rest;
  for (const field of ["labels", "annotations"] as const) {
    const value = converted[field];
    if (value === undefined || value === null) continue;
    if (!isRecord(value)) throw fail(`invalid metadata.${field} of type ${goType(value)} in converted object`);
    if (!deepEqual(value, original[field])) {
      for (const [key, text] of Object.entries(value)) {
        if (typeof text !== "string") {
          throw fail(`metadata.${field}[${key}] must be a string, but is ${goType(text)} in converted object`);
        }
        const errors = [...qualifiedNameErrors(key), ...(field === "labels" ? labelValueErrors(text) : [])];
        if (errors.length > 0) {
          const at = field === "labels" ? "metadata.labels" : "metadata.annotation";
          throw fail(`${at}: Invalid value: ${JSON.stringify(key)}: ${errors[0]}`);
        }
      }
    }
    metadata[field] = value as Record<string, string>;
  }
  return metadata;
}

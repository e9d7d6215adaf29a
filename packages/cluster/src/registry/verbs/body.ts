import { builtinKinds } from "@lotse/client/kinds";
import { DecodeError } from "../codec.ts";
import { badRequest, invalid, type StatusError } from "../errors.ts";
import { invalidValue } from "../fields.ts";
import { type ApiObject, isRecord } from "../object.ts";
import { apiVersionOf, type Endpoint, gvkOf } from "../resource.ts";
import type { FieldValidation, ParsedBody, Requester } from "./request.ts";

/** Reads the body of a POST or PUT as an object of the endpoint's kind. */
export function decodeBody(
  endpoint: Endpoint,
  body: ParsedBody,
  validation: FieldValidation,
  requester: Pick<Requester, "warn">,
): ApiObject {
  const { resource } = endpoint;
  const expected = gvkOf(endpoint);
  // A null decodes into an empty object, as it does into an empty struct.
  const value = body.value === null ? {} : body.value;
  if (!isRecord(value)) {
    const type = Array.isArray(body.value) ? "array" : typeof body.value;
    throw badRequest(
      `the object provided is unrecognized (must be of type ${resource.kind}): couldn't get version/kind; json parse error: json: cannot unmarshal ${type} into Go value of type struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" } (${hexPreview(body.text)})`,
    );
  }
  const kind = typeof value.kind === "string" ? value.kind : "";
  const apiVersion = typeof value.apiVersion === "string" ? value.apiVersion : "";
  if (resource.custom) checkCustomType(endpoint, value, kind, apiVersion);
  else {
    if (apiVersion.split("/").length > 2) {
      throw badRequest(
        `the object provided is unrecognized (must be of type ${resource.kind}): unexpected GroupVersion string: ${apiVersion} (${hexPreview(body.text)})`,
      );
    }
    checkBuiltinType(endpoint, kind, apiVersion);
  }
  return decodeChecked(endpoint, body, value, validation, requester, (detail) =>
    badRequest(
      `${resource.kind} in version ${JSON.stringify(versionOf(expected.apiVersion))} cannot be handled as a ${resource.kind}: ${detail}`,
    ),
  );
}

function decodeChecked(
  endpoint: Endpoint,
  body: Pick<ParsedBody, "complaints" | "duplicateFields" | "typed">,
  value: Record<string, unknown>,
  validation: FieldValidation,
  requester: Pick<Requester, "warn">,
  fail: (detail: string) => StatusError,
  merged = false,
): ApiObject {
  let decoded: ReturnType<Endpoint["version"]["codec"]["decode"]>;
  try {
    decoded = endpoint.version.codec.decode(value);
  } catch (error) {
    if (error instanceof DecodeError) throw fail(merged ? error.ofMerge : error.message);
    throw error;
  }
  // Of custom resources the metadata is read first.
  const inMeta = (field: string) => Number(endpoint.resource.custom && field.startsWith("metadata."));
  const fields = [...decoded.unknownFields].sort((a, b) => inMeta(b) - inMeta(a));
  const unknown = body.typed ? [] : fields.map((field) => `unknown field ${JSON.stringify(field)}`);
  const duplicates = body.duplicateFields.map((field) => `duplicate field ${JSON.stringify(field)}`);
  const found = endpoint.resource.custom ? [...duplicates, ...unknown] : [...unknown, ...duplicates];
  const complaints = body.complaints ?? [];
  if (validation === "Strict" && found.length + complaints.length > 0) {
    const first = complaints.length > 0 ? [strictYaml(complaints)] : [];
    throw fail(`strict decoding error: ${[...first, ...found].join(", ")}`);
  }
  if (validation === "Warn") for (const text of [...complaints, ...found]) requester.warn(text);
  return decoded.object;
}

/** Keys that occur twice in YAML, when they are errors. */
export function strictYaml(complaints: readonly string[]): string {
  return `yaml: unmarshal errors:\n${complaints.map((text) => `  ${text}`).join("\n")}`;
}

/**
 * Reads what a patch made of an object; what is wrong with it is told as an invalid patch. A strategic `merge` is shown
 * itself when its result is wrong, other patches by their result.
 */
export function decodePatched(
  endpoint: Endpoint,
  patched: Record<string, unknown>,
  duplicateFields: readonly string[],
  validation: FieldValidation,
  requester: Pick<Requester, "warn">,
  merge?: unknown,
): ApiObject {
  const expected = gvkOf(endpoint);
  const shown = merge === undefined ? printed(patched) : goMap(merge);
  const fail = (detail: string) => invalid({ group: "", kind: "" }, "", [invalidValue("patch", shown, detail)]);
  if (patched.kind !== expected.kind || patched.apiVersion !== expected.apiVersion) {
    const misread = endpoint.version.codec.misread?.(patched);
    if (misread !== undefined) throw fail(misread);
    throw fail(mismatch(endpoint, inWords(patched.kind), inWords(patched.apiVersion)));
  }
  // Duplicates come from the patch, unknown fields from its result: a real server lists the former first.
  const warned: string[] = [];
  const object = decodeChecked(
    endpoint,
    { duplicateFields: [], typed: false },
    patched,
    validation === "Strict" ? "Warn" : validation,
    { warn: (text) => warned.push(text) },
    fail,
    merge !== undefined,
  );
  const duplicates = duplicateFields.map((field) => `duplicate field ${JSON.stringify(field)}`);
  // The result of a patch is read in the order of its keys.
  if (!endpoint.resource.custom) warned.sort();
  const found = validation === "Ignore" ? [] : [...duplicates, ...warned];
  if (validation === "Strict" && found.length > 0) throw fail(`strict decoding error: ${found.join(", ")}`);
  for (const text of found) requester.warn(text);
  return object;
}

/** A value as Go prints its maps and lists. */
function goMap(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(goMap).join(" ")}]`;
  if (!isRecord(value)) return value === null ? "<nil>" : String(value);
  const members = Object.keys(value)
    .sort()
    .map((key) => `${key}:${goMap(value[key])}`);
  return `map[${members.join(" ")}]`;
}

/** Like a real server, which prints what a patch made with its fields in alphabetical order. */
function printed(object: Record<string, unknown>): string {
  const sorted = Object.keys(object).sort();
  return JSON.stringify(Object.fromEntries(sorted.map((key) => [key, object[key]])));
}

function checkBuiltinType(endpoint: Endpoint, kind: string, apiVersion: string): void {
  const expected = gvkOf(endpoint);
  if ((kind === "" || kind === expected.kind) && (apiVersion === "" || apiVersion === expected.apiVersion)) return;
  const gotVersion = apiVersion === "" ? expected.apiVersion : apiVersion;
  const gotKind = kind === "" ? expected.kind : kind;
  const detail = mismatch(endpoint, gotKind, gotVersion);
  throw badRequest(
    `${gotKind} in version ${JSON.stringify(versionOf(gotVersion))} cannot be handled as a ${expected.kind}: ${detail}`,
  );
}

/** Why an object of one kind is none of another. */
function mismatch(endpoint: Endpoint, kind: string, apiVersion: string): string {
  const expected = gvkOf(endpoint);
  const known = builtinKinds.some(
    ({ group, version, kind: name }) => apiVersionOf(group, version) === apiVersion && name === kind,
  );
  if (apiVersion !== expected.apiVersion || !known || endpoint.resource.custom) return unregistered(kind, apiVersion);
  return `converting (${versionOf(apiVersion)}.${kind}) to (${groupPackage(endpoint.resource.group)}.${expected.kind}): unknown conversion`;
}

function checkCustomType(endpoint: Endpoint, value: Record<string, unknown>, kind: string, apiVersion: string): void {
  const expected = gvkOf(endpoint);
  if (kind === "") {
    const missing = "Kind";
    const text = JSON.stringify(value);
    const shown = text.length > 30 ? `${text.slice(0, 30)} ...` : text;
    throw badRequest(
      `the object provided is unrecognized (must be of type ${expected.kind}): Object '${missing}' is missing in '${text}' (${shown})`,
    );
  }
  if (apiVersion !== expected.apiVersion) {
    throw badRequest(
      `the API version in the data (${apiVersion}) does not match the expected API version (${expected.apiVersion})`,
    );
  }
  if (kind !== expected.kind) {
    const name = isRecord(value.metadata) && typeof value.metadata.name === "string" ? value.metadata.name : "";
    throw invalid({ group: endpoint.resource.group, kind }, name, [
      invalidValue("kind", kind, `must be ${expected.kind}`),
    ]);
  }
}

/** A body that is not YAML at all; `detail` is the parser's complaint. */
export function unreadableYaml(kind: string, detail: string, text: string): StatusError {
  return badRequest(`the object provided is unrecognized (must be of type ${kind}): ${detail} (${hexPreview(text)})`);
}

/** A body that is not JSON at all; `detail` is the parser's complaint. */
export function unreadableBody(kind: string, detail: string, text: string): StatusError {
  return badRequest(
    `the object provided is unrecognized (must be of type ${kind}): couldn't get version/kind; json parse error: ${detail} (${hexPreview(text)})`,
  );
}

/** Anything may come here, also an object whose `toString` is no function. */
function inWords(value: unknown): string {
  return typeof value === "string" ? value : (JSON.stringify(value) ?? "");
}

function unregistered(kind: string, apiVersion: string): string {
  return `no kind ${JSON.stringify(kind)} is registered for version ${JSON.stringify(apiVersion)} in scheme "pkg/runtime/scheme.go:111"`;
}

/** The beginning of a body: as it is when it looks like an object, else in bytes. */
function hexPreview(text: string): string {
  if (text === "") return "<empty>";
  if (/^\s*\{/.test(text)) return text.length > LONGEST_PREVIEW ? `${text.slice(0, LONGEST_PREVIEW)} ...` : text;
  const bytes = new TextEncoder().encode(text);
  const hex = Array.from(bytes.subarray(0, LONGEST_PREVIEW), (byte) => byte.toString(16).padStart(2, "0")).join("");
  return bytes.length > LONGEST_PREVIEW ? `${hex} ...` : hex;
}

const LONGEST_PREVIEW = 30;

function versionOf(apiVersion: string): string {
  return apiVersion.slice(apiVersion.indexOf("/") + 1);
}

function groupPackage(group: string): string {
  return group === "" ? "core" : (group.split(".")[0] as string);
}

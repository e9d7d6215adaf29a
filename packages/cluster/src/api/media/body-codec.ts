import {
  badRequest,
  isRecord,
  type ParsedBody,
  type PatchType,
  unreadableBody,
  unreadableYaml,
  unsupportedMediaType,
} from "../../registry/index.ts";
import { JsonTextError, parseJson } from "./json-text.ts";
import { PROTOBUF, parseMediaType } from "./negotiate.ts";

const READ_TYPES = ["application/json", "application/yaml", PROTOBUF];

/** Turns a protobuf body into what its JSON would be. Throws when it cannot. */
export type ProtobufDecoder = (bytes: Uint8Array) => Record<string, unknown>;

// Most clients write JSON; the parser of YAML is large.
const loadYaml = () => import("../yaml/yaml-text.ts");

/** Reads the body of a write. `kind` is what it should be, for complaints. */
export async function parseBody(
  bytes: Uint8Array,
  contentType: string | undefined,
  kind: string,
  protobuf: ProtobufDecoder,
): Promise<ParsedBody> {
  const { type } = parseMediaType(contentType ?? "");
  switch (type || contentType || "") {
    case "":
    case "application/json":
      return parseJsonBody(new TextDecoder().decode(bytes), kind);
    case "application/yaml":
      return parseYamlBody(new TextDecoder().decode(bytes), kind);
    case PROTOBUF:
      return parseProtobufBody(bytes, kind, protobuf);
    default:
      throw unsupportedMediaType(READ_TYPES);
  }
}

/** Reads the options in the body of a DELETE. */
export async function parseDeleteOptions(
  bytes: Uint8Array,
  contentType: string | undefined,
  protobuf: ProtobufDecoder,
): Promise<ParsedBody> {
  const kind = "DeleteOptions";
  let body: ParsedBody;
  try {
    body = await parseBody(bytes, contentType, kind, protobuf);
  } catch (error) {
    // Here the server says neither what should have been sent, nor what was.
    const [, detail] = /: (couldn't get version\/kind; .*) \([^)]*\)$/.exec((error as Error).message) ?? [];
    throw detail === undefined ? error : badRequest(detail);
  }
  const found = isRecord(body.value) ? body.value.kind : undefined;
  if (found !== undefined && found !== kind) {
    const version = isRecord(body.value) ? body.value.apiVersion : "";
    throw badRequest(
      `no kind ${JSON.stringify(found)} is registered for version ${JSON.stringify(version)} in scheme "pkg/runtime/scheme.go:111"`,
    );
  }
  return body;
}

function parseJsonBody(text: string, kind: string): ParsedBody {
  try {
    return { ...parseJson(text), typed: false, text };
  } catch (error) {
    if (error instanceof JsonTextError) throw unreadableBody(kind, error.message, text);
    throw error;
  }
}

async function parseYamlBody(text: string, kind: string): Promise<ParsedBody> {
  const { parseYaml, YamlTextError } = await loadYaml();
  try {
    return { ...parseYaml(text), duplicateFields: [], typed: false, text };
  } catch (error) {
    if (error instanceof YamlTextError) throw unreadableYaml(kind, error.message, text);
    throw error;
  }
}

function parseProtobufBody(bytes: Uint8Array, kind: string, protobuf: ProtobufDecoder): ParsedBody {
  try {
    return { value: protobuf(bytes), duplicateFields: [], typed: true, text: "" };
  } catch (error) {
    const known = PROTOBUF_PREFIX.every((byte, i) => bytes[i] === byte);
    const detail = known ? (error as Error).message : noProtobuf(bytes);
    throw badRequest(`the object provided is unrecognized (must be of type ${kind}): ${detail}`);
  }
}

const PROTOBUF_PREFIX = [107, 56, 115, 0];
const LONGEST_PREVIEW = 31;

function noProtobuf(bytes: Uint8Array): string {
  const hex = Array.from(bytes.subarray(0, LONGEST_PREVIEW), (byte) => byte.toString(16).padStart(2, "0")).join("");
  const shown = bytes.length > LONGEST_PREVIEW ? `${hex} ...` : hex;
  return `provided data does not appear to be a protobuf message, expected prefix [${PROTOBUF_PREFIX.join(" ")}] (${shown})`;
}

/** Reads the body of a PATCH: JSON, or YAML for an apply. */
export async function parsePatchBody(bytes: Uint8Array, patchType: PatchType): Promise<ParsedBody> {
  const text = new TextDecoder().decode(bytes);
  if (patchType === "apply") return parseApplyBody(text);
  try {
    return { ...parseJson(text), typed: false, text };
  } catch (error) {
    if (!(error instanceof JsonTextError)) throw error;
    throw badRequest(patchType === "strategic" ? error.message : `error decoding patch: ${error.message}`);
  }
}

/** JSON is YAML there, and its mistakes are told as such; where it has none, it is read more quickly. */
async function parseApplyBody(text: string): Promise<ParsedBody> {
  const json = readJson(text);
  if (json?.duplicateFields.length === 0) return { ...json, typed: false, text };
  const { parseYaml, YamlTextError } = await loadYaml();
  try {
    const parsed = text.trim() === "" ? { value: {} } : parseYaml(text);
    return { ...parsed, duplicateFields: [], typed: false, text };
  } catch (error) {
    if (!(error instanceof YamlTextError)) throw error;
    throw badRequest(`error decoding YAML: error converting YAML to JSON: ${error.message}`);
  }
}

function readJson(text: string): ReturnType<typeof parseJson> | undefined {
  try {
    return parseJson(text);
  } catch (error) {
    if (error instanceof JsonTextError) return undefined;
    throw error;
  }
}

import { byteLength, deepEqual } from "@lotse/client/meta";
import { type FieldError, forbiddenField, IMMUTABLE, invalidValue, required, tooLongValue } from "../fields.ts";
import { type ApiObject, objectAt } from "../object.ts";
import { Verbatim } from "../schema/index.ts";
import { recordOf, textOf } from "./common.ts";
import { given, rangeText, subdomainErrors } from "./values.ts";
import { driverNameErrors } from "./volume-sources.ts";
import { inlineVolumeErrors } from "./volumes.ts";

type Fields = Record<string, unknown>;

const LARGEST_METADATA = 256 * 1_024;
const LONGEST_MESSAGE = 1_024;

/** What is wrong with a VolumeAttachment. */
export function attachmentCreate(object: ApiObject): FieldError[] {
  const spec = objectAt(object, "spec");
  const source = objectAt(spec, "source");
  const status = objectAt(object, "status");
  const name = source.persistentVolumeName;
  return [
    ...driverNameErrors(textOf(spec.attacher), "spec.attacher"),
    ...sourceErrors(source, "spec.source"),
    ...subdomainErrors(textOf(spec.nodeName), "spec.nodeName"),
    ...metadataErrors(status.attachmentMetadata),
    ...volumeErrorErrors(status.attachError, "status.attachError"),
    ...volumeErrorErrors(status.detachError, "status.detachError"),
    ...(given(name) ? subdomainErrors(textOf(name), "spec.source.persistentVolumeName") : []),
  ];
}

/** What is wrong with a changed VolumeAttachment: its spec stays. */
export function attachmentUpdate(object: ApiObject, old: ApiObject): FieldError[] {
  const errors = attachmentCreate(object);
  if (deepEqual(object.spec, old.spec)) return errors;
  const spec = objectAt(object, "spec");
  const { persistentVolumeName, inlineVolumeSpec } = objectAt(spec, "source");
  const shown = {
    Attacher: spec.attacher ?? "",
    Source: { PersistentVolumeName: persistentVolumeName ?? null, InlineVolumeSpec: inlineVolumeSpec ?? null },
    NodeName: spec.nodeName ?? "",
  };
  return [...errors, invalidValue("spec", new Verbatim(JSON.stringify(shown)), IMMUTABLE)];
}

function sourceErrors({ inlineVolumeSpec, persistentVolumeName }: Fields, path: string): FieldError[] {
  const text = "must specify exactly one of inlineVolumeSpec and persistentVolumeName";
  if (given(inlineVolumeSpec) && given(persistentVolumeName)) return [forbiddenField(path, text)];
  if (given(inlineVolumeSpec)) return inlineVolumeErrors(recordOf(inlineVolumeSpec), `${path}.inlineVolumeSpec`);
  if (!given(persistentVolumeName)) return [required(path, text)];
  if (persistentVolumeName !== "") return [];
  return [required(`${path}.persistentVolumeName`, "must specify non empty persistentVolumeName")];
}

function metadataErrors(metadata: unknown): FieldError[] {
  let size = 0;
  for (const [key, value] of Object.entries(recordOf(metadata))) size += byteLength(key) + byteLength(String(value));
  return size > LARGEST_METADATA ? [tooLongValue("status.attachmentMetadata", LARGEST_METADATA)] : [];
}

function volumeErrorErrors(value: unknown, path: string): FieldError[] {
  const { message, errorCode } = recordOf(value);
  const errors: FieldError[] = [];
  // The server names the limit of something else.
  if (textOf(message).length > LONGEST_MESSAGE) errors.push(tooLongValue(`${path}.message`, LARGEST_METADATA));
  if (typeof errorCode === "number" && errorCode < 0) {
    errors.push(invalidValue(`${path}.errorCode`, errorCode, rangeText(0, 2_147_483_647)));
  }
  return errors;
}

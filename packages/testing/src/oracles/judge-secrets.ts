/** Values of Secrets where everybody reads them. Pure. */
import { isObject } from "@lotse/client/meta";
import type { LogRecord } from "lotse";
import { type StoredBody, titleOf } from "../objects/index.ts";
import type { Violation } from "./violation.ts";

/** A value that nobody is to see. */
export interface SecretValue {
  /** `Secret default/password, key password` */
  readonly where: string;
  readonly text: string;
  readonly encoded: string;
}

/** Shorter ones are words that stand everywhere. */
const SHORTEST = 8;
/** Certificates are shown to everybody who connects. */
const PUBLIC_KEYS = /(?:^|\.)(?:crt|cert|pem|pub)$|^(?:username|user|host|hostname|port|dbname|database|namespace)$/i;

/** The values in the Secrets among these objects. */
export function secretValues(objects: readonly StoredBody[]): SecretValue[] {
  return objects
    .filter(({ apiVersion, kind }) => apiVersion === "v1" && kind === "Secret")
    .flatMap((body) =>
      Object.entries((body.data ?? {}) as Record<string, string>).flatMap(([key, encoded]) => {
        if (PUBLIC_KEYS.test(key)) return [];
        const text = Buffer.from(encoded, "base64").toString();
        return text.length < SHORTEST ? [] : [{ where: `${titleOf(body)}, key ${key}`, text, encoded }];
      }),
    );
}

/** Where these values are told. One that stands in what other objects want is no secret. */
export function toldSecrets(
  values: readonly SecretValue[],
  objects: readonly StoredBody[],
  log: readonly LogRecord[],
): Violation[] {
  if (values.length === 0) return [];
  const others = objects.filter(({ kind }) => kind !== "Secret");
  const wanted = others
    .filter(({ kind }) => kind !== "Event")
    .map(({ status: _, metadata, ...rest }) => {
      const { managedFields: _fields, ...kept } = metadata;
      return JSON.stringify({ ...rest, metadata: kept });
    })
    .join("\n");
  const secret = values.filter(({ text }) => !wanted.includes(escaped(text)));
  if (secret.length === 0) return [];
  const places = [
    ...others.flatMap((body) => {
      if (body.kind === "Event") return [{ where: `the Event ${String(body.reason)}`, text: JSON.stringify(body) }];
      return isObject(body.status)
        ? [{ where: `the status of ${titleOf(body)}`, text: JSON.stringify(body.status) }]
        : [];
    }),
    ...log.map((record) => ({
      where: `the log line ${JSON.stringify(record.message).slice(0, 60)}`,
      text: textOf(record),
    })),
  ];
  const found = new Map<string, Violation>();
  for (const { where, text } of places) {
    for (const value of secret) {
      if (!text.includes(escaped(value.text)) && !text.includes(value.encoded)) continue;
      const what = `the value of ${value.where} is in ${where}`;
      found.set(what, { oracle: "secrets", what, todo: "name the Secret and its key instead of what is in it" });
    }
  }
  return [...found.values()];
}

/** As it stands inside of JSON. */
function escaped(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}

function textOf({ message, fields }: LogRecord): string {
  const seen = new WeakSet<object>();
  const plain = (_key: string, value: unknown) => {
    if (value instanceof Error) return `${value.message} ${value.stack ?? ""}`;
    if (typeof value === "bigint") return String(value);
    if (typeof value !== "object" || value === null) return value;
    if (seen.has(value)) return undefined;
    seen.add(value);
    return value;
  };
  return JSON.stringify({ message, fields }, plain);
}

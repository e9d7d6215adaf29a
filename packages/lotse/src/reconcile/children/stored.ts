/**
 * What the server makes of a manifest: amounts are written in one way only, and a Secret keeps its texts in base64. A
 * comparison has to know, or every start would find a difference. Pure. What is not known here is asked of the server.
 */
import type { KindDescription, KubeBody } from "@lotse/client";
import { compareQuantities, isObject } from "@lotse/client/meta";
import type { Same } from "./compare.ts";

/** The manifest in the form in which it can be found again, and in which the server knows what is ours. */
export function asStored(manifest: KubeBody): KubeBody {
  const { stringData, ...rest } = manifest;
  if (manifest.apiVersion !== "v1" || manifest.kind !== "Secret" || !isObject(stringData)) return manifest;
  const encoded = Object.entries(stringData).map(([key, text]) => [key, base64(text)]);
  return { ...rest, data: { ...(rest.data as object | undefined), ...Object.fromEntries(encoded) } };
}

/** What is no text is left to the server, which refuses it with a reason. */
function base64(text: unknown): unknown {
  return typeof text === "string" ? Buffer.from(text, "utf8").toString("base64") : text;
}

/** Fields whose members are amounts. */
const OF_AMOUNTS: ReadonlySet<string> = new Set([
  "requests",
  "limits",
  "capacity",
  "hard",
  "podFixed",
  "max",
  "min",
  "default",
  "defaultRequest",
  "maxLimitRequestRatio",
]);
/** Amounts that stand alone, with the field above them. */
const AMOUNTS: ReadonlySet<string> = new Set([
  "emptyDir.sizeLimit",
  "resourceFieldRef.divisor",
  "target.value",
  "target.averageValue",
]);

/** What counts as the same in objects of this kind; undefined where the server keeps every value as it is written. */
export function sameIn({ group }: KindDescription): Same | undefined {
  return !group.includes(".") || group.endsWith(".k8s.io") ? sameAmount : undefined;
}

function sameAmount(live: unknown, wanted: unknown, above: string, name: string): boolean {
  if (!OF_AMOUNTS.has(above) && !AMOUNTS.has(`${above}.${name}`)) return false;
  if (!isAmount(live) || !isAmount(wanted)) return false;
  try {
    return compareQuantities(live, wanted) === 0;
  } catch {
    // One of them is no amount after all, and they are not the same text.
    return false;
  }
}

function isAmount(value: unknown): value is string | number {
  return typeof value === "string" || typeof value === "number";
}

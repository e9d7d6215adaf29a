/**
 * The path of a handler. API servers take each segment of a path behind a Service only if it could be a DNS name, and send
 * an encoded slash as a slash: hence ids are written in small letters, digits, dashes and dots. Pure.
 */
import type { AdmissionHandler } from "../../declare/index.ts";

const DNS_NAME = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;
/** Before the bytes of a segment that has no form for people. */
const BYTES = "x0";

/** `checkSize` is at `/validate/check-size`, `check/spec.size` at `/validate/check/spec.size`. */
export function pathOfHandler({ type, id }: Pick<AdmissionHandler, "type" | "id">): string {
  return `/${type}/${id.split("/").map(segmentOf).join("/")}`;
}

/** The handler that a path names; undefined when it is of another form. */
export function handlerOfPath(path: string): Pick<AdmissionHandler, "type" | "id"> | undefined {
  const [, type, rest] = /^\/(validate|mutate)\/(.+)$/.exec(path) ?? [];
  if (type === undefined || rest === undefined) return undefined;
  const parts = rest.split("/").map(textOf);
  if (parts.some((part) => part === undefined)) return undefined;
  return { type: type as AdmissionHandler["type"], id: parts.join("/") };
}

/** No two texts have the same segment. */
function segmentOf(text: string): string {
  const readable = text.replaceAll("-", "--").replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
  if (DNS_NAME.test(readable) && !readable.startsWith(BYTES)) return readable;
  return `${BYTES}${Buffer.from(text, "utf8").toString("hex")}`;
}

function textOf(segment: string): string | undefined {
  if (!DNS_NAME.test(segment)) return undefined;
  const text = segment.startsWith(BYTES)
    ? Buffer.from(segment.slice(BYTES.length), "hex").toString("utf8")
    : segment.replaceAll(/-(-|[a-z])/g, (_, next: string) => next.toUpperCase());
  // There is one way to write each.
  return segmentOf(text) === segment ? text : undefined;
}

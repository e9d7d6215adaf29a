/** What an Event looks like on the wire: pure, and within the limits that the API server sets. */
import type { KubeBody } from "@lotse/client";
import { byteLength, isDns1123Subdomain } from "@lotse/client/meta";
import type { ObjectReference } from "./logger.ts";

/** The object that an Event is about. */
export type EventSubject = ObjectReference & { readonly resourceVersion?: string | undefined };

/** Something that happened to an object and that its owner should see in `kubectl describe`. */
export interface EventInput {
  readonly type: "Normal" | "Warning";
  /** One word in CamelCase, for programs: `RatePublished`. Longer than 128 bytes: its end is cut off. */
  readonly reason: string;
  /** A sentence for people. Longer than 1024 bytes: its middle is cut out. */
  readonly message: string;
  readonly object: EventSubject;
}

/** Who reports. */
export interface EventReporter {
  readonly component: string;
  readonly instance: string;
}

/** The server counts bytes, not characters. */
const MESSAGE_BYTES = 1024;
const REASON_BYTES = 128;
const INSTANCE_BYTES = 128;
const NAME_LENGTH = 253;
const GAP = "...";

/** The event within the server's limits. Two events that are equal after this are the same event. */
export function normalEvent({ type, reason, message, object }: EventInput): EventInput {
  return {
    type: type === "Warning" ? "Warning" : "Normal",
    reason: headOf(String(reason ?? ""), REASON_BYTES) || "Unknown",
    message: cutMiddle(String(message ?? ""), MESSAGE_BYTES),
    object,
  };
}

/** `text` in at most `bytes` bytes: begin and end stay, because errors say what in the one and why in the other. */
export function cutMiddle(text: string, bytes: number): string {
  if (byteLength(text) <= bytes) return text;
  const kept = bytes - GAP.length;
  const head = headOf(text, Math.ceil(kept / 2));
  return head + GAP + tailOf(text, kept - byteLength(head));
}

/** The longest beginning of `text` with at most `bytes` bytes; no character is cut in two. */
export function headOf(text: string, bytes: number): string {
  if (byteLength(text) <= bytes) return text;
  let head = "";
  let left = bytes;
  for (const character of text) {
    left -= byteLength(character);
    if (left < 0) break;
    head += character;
  }
  return head;
}

function tailOf(text: string, bytes: number): string {
  const characters = [...text];
  let from = characters.length;
  for (let left = bytes; from > 0; from--) {
    left -= byteLength(characters[from - 1] as string);
    if (left < 0) break;
  }
  return characters.slice(from).join("");
}

/** Events live beside their object; those of cluster-scoped objects in `default`, the only place that the server allows. */
export function eventNamespace(object: EventSubject): string {
  return object.namespace || "default";
}

/**
 * A name for a new Event. It is chosen here and not by the server, so that a POST whose answer was lost can be sent
 * again without making a second Event.
 */
export function eventName(object: EventSubject, now: number, random: () => number): string {
  const unique =
    now.toString(16) +
    Math.floor(random() * 0x100000)
      .toString(16)
      .padStart(5, "0");
  // Names of some kinds (RBAC) are no DNS names, but those of Events must be.
  const wanted = isDns1123Subdomain(object.name) ? object.name : object.name.toLowerCase().replace(/[^a-z0-9]+/g, "-");
  const base = wanted.slice(0, NAME_LENGTH - unique.length - 1).replace(/^[-.]+|[-.]+$/g, "") || "object";
  return `${base}.${unique}`;
}

/** Kubernetes' `Time`: whole seconds, UTC. */
export function eventTimestamp(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 19)}Z`;
}

/** What has happened how often. */
export interface EventTally {
  readonly count: number;
  /** Wall-clock milliseconds. */
  readonly firstAt: number;
  readonly lastAt: number;
}

/**
 * The body of a new Event of the core group. `eventTime` stays unset: it belongs to the other way of counting (`series`),
 * and where it is set, the server wants `action` and more.
 */
export function eventBody(name: string, event: EventInput, tally: EventTally, reporter: EventReporter): KubeBody {
  const { apiVersion, kind, namespace, name: objectName, uid, resourceVersion } = event.object;
  return {
    apiVersion: "v1",
    kind: "Event",
    metadata: { name, namespace: eventNamespace(event.object) },
    involvedObject: {
      apiVersion,
      kind,
      ...(namespace && { namespace }),
      name: objectName,
      ...(uid && { uid }),
      ...(resourceVersion && { resourceVersion }),
    },
    type: event.type,
    reason: event.reason,
    message: event.message,
    firstTimestamp: eventTimestamp(tally.firstAt),
    ...eventPatch(tally),
    source: { component: reporter.component },
    reportingComponent: reporter.component,
    reportingInstance: headOf(reporter.instance, INSTANCE_BYTES),
  };
}

/** The merge patch that tells an Event that it has happened again. */
export function eventPatch({ count, lastAt }: EventTally): { count: number; lastTimestamp: string } {
  return { count, lastTimestamp: eventTimestamp(lastAt) };
}

/** An Event about an Event would call for the next one. */
export function isAboutEvent({ apiVersion, kind }: EventSubject): boolean {
  return kind === "Event" && (apiVersion === "v1" || apiVersion.startsWith("events.k8s.io/"));
}

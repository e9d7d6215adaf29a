/** What an assertion about an object comes to, and what it says: the same for every test runner. Pure. */
import { isObject } from "@lotse/client/meta";
import { conditionLines, patternDifferences, type StoredBody, titleOf, valueText } from "../objects/index.ts";

/** How it came out. */
export interface Verdict {
  readonly pass: boolean;
  /** Why it did not pass; after `.not`, why it did. */
  readonly message: () => string;
}

/** An object of the cluster: a client object, or its plain body. */
export type Looked = object;

/** What a condition has to be besides its type. */
export interface ConditionWanted {
  readonly status?: "True" | "False" | "Unknown";
  readonly reason?: string | RegExp;
  readonly message?: string | RegExp;
}

/** What an Event has to be; everything given has to match. */
export interface EventWanted {
  readonly type?: "Normal" | "Warning";
  readonly reason?: string | RegExp;
  readonly message?: string | RegExp;
  /** The name of the object that it is about, or `namespace/name`. */
  readonly object?: string;
}

/** Where Events can be found: the harness, its cluster, or a list of them. */
export type EventSource = { readonly cluster: Rows } | Rows | readonly Looked[];

interface Rows {
  snapshot(): { readonly rows: readonly { readonly object: unknown }[] };
}

interface Body {
  readonly kind?: string;
  readonly metadata?: Readonly<Record<string, unknown>>;
  readonly status?: unknown;
}

interface Condition {
  readonly type?: unknown;
  readonly status?: unknown;
  readonly reason?: unknown;
  readonly message?: unknown;
  readonly observedGeneration?: unknown;
}

/** What says of an object that it is as it shall be, the first that it has. */
const READY = ["Ready", "Available", "Complete", "Established"];

/** Whether the object says that it is ready, and says so of its present generation. */
export function readiness(received: Looked): Verdict {
  const body = bodyOf(received, "toBeReady");
  const condition = READY.map((type) => conditionsOf(body).find((one) => one.type === type)).find(Boolean);
  const phase = isObject(body.status) ? body.status.phase : undefined;
  const isOld = condition !== undefined && isOutdated(condition, body);
  const pass = condition
    ? condition.status === "True" && !isOld
    : phase === "Succeeded" || phase === "Bound" || phase === "Active";
  const why = isOld
    ? `, of generation ${String(condition?.observedGeneration)}, and it is at ${String(body.metadata?.generation)}`
    : "";
  return verdict(pass, `${title(body)} is ready`, `${title(body)} is not ready${why}: ${conditionsText(body)}`);
}

function isOutdated({ observedGeneration }: Condition, { metadata }: Body): boolean {
  const generation = metadata?.generation;
  return typeof observedGeneration === "number" && typeof generation === "number" && observedGeneration < generation;
}

/** Whether the object has a condition; `True` unless something else is asked for. */
export function condition(
  received: Looked,
  type: string,
  wanted: ConditionWanted | ConditionWanted["status"] = {},
): Verdict {
  const body = bodyOf(received, "toHaveCondition");
  const given = typeof wanted === "string" ? { status: wanted } : wanted;
  const pattern = { status: "True", ...given };
  const found = conditionsOf(body).find((one) => one.type === type);
  const pass = found !== undefined && patternDifferences(pattern, found).length === 0;
  const text = `${type}=${pattern.status}${given.reason === undefined ? "" : ` ${String(given.reason)}`}${
    given.message === undefined ? "" : `: ${String(given.message)}`
  }`;
  return verdict(
    pass,
    `${title(body)} has the condition ${text}`,
    `${title(body)} has no condition ${text}: ${conditionsText(body)}`,
  );
}

/** Whether an object, or each of several, belongs to this one. */
export function ownership(received: Looked, child: Looked | readonly Looked[]): Verdict {
  const owner = bodyOf(received, "toOwn");
  const children = (Array.isArray(child) ? child : [child]).map((one) => bodyOf(one, "toOwn"));
  const uid = owner.metadata?.uid;
  const strangers = children.filter((body) => !referencesOf(body).some((reference) => reference.uid === uid));
  const others = strangers.map((body) => {
    const references = referencesOf(body).map((one) => {
      const same = one.kind === owner.kind && one.name === owner.metadata?.name;
      return `${String(one.kind)} ${String(one.name)}${same ? ` of another uid (${String(one.uid)}, not ${String(uid)})` : ""}`;
    });
    return `${title(body)} belongs to ${references.length === 0 ? "nobody" : references.join(", ")}`;
  });
  const pass = children.length > 0 && strangers.length === 0;
  const names = children.map(title).join(", ");
  const no =
    children.length === 0
      ? `there is nothing that ${title(owner)} could own`
      : `${title(owner)} does not own it: ${others.join("; ")}`;
  return verdict(pass, `${title(owner)} owns ${names}`, no);
}

/** Whether there is such an Event. */
export function eventually(received: EventSource, wanted: EventWanted | string): Verdict {
  const pattern: EventWanted = typeof wanted === "string" ? { reason: wanted } : wanted;
  const events = eventsOf(received);
  const { object, ...fields } = pattern;
  const pass = events.some((event) => {
    const { namespace, name } = aboutOf(event);
    if (object !== undefined && object !== name && object !== `${String(namespace)}/${String(name)}`) return false;
    return patternDifferences(fields, { ...event, message: event.message ?? event.note }).length === 0;
  });
  const asked = Object.entries(pattern)
    .map(([key, value]) => `${key} ${value instanceof RegExp ? String(value) : valueText(value)}`)
    .join(", ");
  const there = events.slice(-10).map((event) => {
    const { kind, name } = aboutOf(event);
    return `\n  ${String(event.type)} ${String(event.reason)} of ${String(kind)} ${String(name)}: ${String(event.message ?? event.note)}`;
  });
  const none = events.length === 0 ? "there are no Events at all" : `there are${there.join("")}`;
  return verdict(pass, `there is an Event with ${asked}`, `there is no Event with ${asked}; ${none}`);
}

function eventsOf(received: EventSource): Record<string, unknown>[] {
  if (Array.isArray(received))
    return received.map((one) => bodyOf(one as Looked, "toHaveEvent") as Record<string, unknown>);
  const source = received as { readonly cluster?: Rows } & Partial<Rows>;
  const rows = source.cluster ?? source;
  if (typeof rows.snapshot !== "function") {
    throw new TypeError(
      "toHaveEvent looks at a harness, a cluster, or a list of Events: expect(harness).toHaveEvent(…)",
    );
  }
  return (rows as Rows)
    .snapshot()
    .rows.map(({ object }) => object as StoredBody)
    .filter(({ kind }) => kind === "Event") as unknown as Record<string, unknown>[];
}

function aboutOf(event: Record<string, unknown>): Record<string, unknown> {
  const about = event.involvedObject ?? event.regarding;
  return isObject(about) ? about : {};
}

function verdict(pass: boolean, yes: string, no: string): Verdict {
  return { pass, message: () => (pass ? yes : no) };
}

function bodyOf(received: Looked, matcher: string): Body {
  const body =
    isObject(received) && isObject((received as { body?: unknown }).body)
      ? (received as { body: Body }).body
      : received;
  if (isObject(body) && typeof (body as Body).kind === "string") return body as Body;
  throw new TypeError(`${matcher} looks at an object of the cluster, and this is none: ${valueText(received)}`);
}

function conditionsOf({ status }: Body): Condition[] {
  const conditions = isObject(status) && Array.isArray(status.conditions) ? status.conditions : [];
  return conditions.filter(isObject) as Condition[];
}

function conditionsText(body: Body): string {
  const lines = conditionLines(body as never);
  if (lines.length > 0) return `its conditions are\n  ${lines.join("\n  ")}`;
  return isObject(body.status) ? `it has no conditions, its status is ${valueText(body.status)}` : "it has no status";
}

function referencesOf({ metadata }: Body): Record<string, unknown>[] {
  const references = metadata?.ownerReferences;
  return Array.isArray(references) ? references.filter(isObject) : [];
}

function title({ kind = "", metadata = {} }: Body): string {
  return titleOf({ kind, metadata } as never);
}

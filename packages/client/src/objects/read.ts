/** The verbs that only look. */
import { type KindDescription, type KubeBody, type ObjectBody, pathOf } from "../kinds/index.ts";
import { ConfigError, durationMs, formatFieldSelector, formatLabelSelector } from "../meta/index.ts";
import { Watch, type WatchEvent } from "../streams/index.ts";
import { apiErrorFrom, NotFoundError, type Query } from "../transport/index.ts";
import { AmbiguousError } from "./errors.ts";
import { ObjectList } from "./list.ts";
import type { AnyObject } from "./object.ts";
import type { GetOptions, ListOptions, SelectOptions, WatchOptions } from "./options.ts";
import { readPage, requestPart } from "./requests.ts";
import { describedBy, type Session } from "./session.ts";
import type { KindLike } from "./view.ts";
import { WaitTimeoutError } from "./wait.ts";

/** `client.get`: reads one object; with `waitUpTo` also one that another client is about to create. */
export async function getObject(session: Session, kind: KindLike, name: string, o: GetOptions): Promise<AnyObject> {
  const description = typeof kind === "string" ? await session.resolve(kind) : describedBy(kind);
  const path = session.path(description, name, o);
  const { signal, timeout, retry } = o;
  try {
    const response = await session.raw({ method: "GET", path, signal, timeout, retry });
    return session.wrap(kind, description, await response.json<KubeBody>());
  } catch (error) {
    if (!(error instanceof NotFoundError) || o.waitUpTo === undefined) throw error;
    const waiting = await session.reference(kind, name, o.namespace);
    const patience = { timeout: o.waitUpTo, signal: o.signal };
    await session.client.wait(waiting, "create", patience).catch((reason) => {
      throw reason instanceof WaitTimeoutError ? error : reason;
    });
    return o.subresource === undefined ? waiting : getObject(session, kind, name, { ...o, waitUpTo: undefined });
  }
}

/** `deployment/web` or `deployments.v1.apps/web`: what the name is comes after the last slash. */
export function splitReference(text: string): { kind: string; name: string } {
  const slash = text.lastIndexOf("/");
  const [kind, name] = [text.slice(0, Math.max(0, slash)), text.slice(slash + 1)];
  if (kind !== "" && name !== "") return { kind, name };
  throw new ConfigError(`"${text}" does not name an object`, {
    hint: 'write kind and name: client.get("deployment/web") or client.get("deployment", "web")',
  });
}

/** `client.list`: the pages are asked for while they are read. */
export function listObjects(session: Session, kind: KindLike, o: ListOptions): ObjectList<AnyObject> {
  let description: KindDescription | undefined;
  return new ObjectList<AnyObject>(
    async ({ continueToken, limit }) => {
      description = await session.resolve(kind);
      const path = pathOf(description, { namespace: o.namespace ?? session.view.namespace });
      const query = listQuery(o, limit, continueToken);
      return readPage(await session.json({ ...requestPart(o), method: "GET", path, query }), description);
    },
    (body) => session.wrap(kind, description as KindDescription, body),
  );
}

/** The query of one page of a list. */
export function listQuery(o: ListOptions, limit?: number, continueToken?: string): Query {
  return {
    limit: limit ?? o.pageSize ?? 500,
    continue: continueToken,
    labelSelector: formatLabelSelector(o.labelSelector) || undefined,
    fieldSelector: formatFieldSelector(o.fieldSelector) || undefined,
    // A continue token already says which version it is about.
    resourceVersion: continueToken === undefined ? o.resourceVersion : undefined,
  };
}

/** The one object that the selectors mean. */
export async function findObject<T extends AnyObject>(
  list: (o: ListOptions) => ObjectList<T>,
  kind: KindDescription,
  o: SelectOptions,
): Promise<T> {
  const [label, field] = [formatLabelSelector(o.labelSelector), formatFieldSelector(o.fieldSelector)];
  const asked = [label, field].filter((text) => text !== "").join(" and ");
  if (asked === "") {
    throw new ConfigError(`which ${kind.kind}? find() needs a labelSelector or a fieldSelector`, {
      hint: "use get() with a name, or list() for all of them",
    });
  }
  const found: T[] = [];
  for await (const object of list({ ...o, pageSize: 3 })) {
    found.push(object);
    if (found.length > 2) break;
  }
  const [only, another] = found;
  if (only === undefined) {
    throw apiErrorFrom(
      404,
      { reason: "NotFound", message: `no ${kind.kind} matches ${asked}`, details: { kind: kind.plural } },
      { method: "GET", path: pathOf(kind, { namespace: o.namespace }) },
    );
  }
  if (another === undefined) return only;
  const names = found.map(({ name }) => name);
  throw new AmbiguousError(`more than one ${kind.kind} matches ${asked}: ${names.join(", ")}`, names);
}

/** `client.watch`: begins when it is first read. `seen` hears each event before the consumer. */
export function watchObjects(
  session: Session,
  kind: KindLike,
  o: WatchOptions,
  seen?: (event: WatchEvent<ObjectBody>) => void,
): Watch<AnyObject> {
  const { clock, random } = session.core;
  const { namespace = session.view.namespace, labelSelector, fieldSelector, initial = "list", onState } = o;
  const inactivityMs = o.inactivity === undefined ? undefined : durationMs(o.inactivity);
  const subject = async () => {
    const description = await session.resolve(kind);
    return { kind: description, wrap: (body: ObjectBody) => session.wrap(kind, description, body), seen };
  };
  const signals = [...session.view.signals, o.signal];
  const what = { namespace, labelSelector, fieldSelector, initial };
  return new Watch<AnyObject>(session.client, subject, { ...what, signals, onState, inactivityMs, clock, random });
}

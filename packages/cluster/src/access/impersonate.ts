import { lookup } from "@lotse/client/meta";
import type { ApiRequest, RequestInfo } from "../api/index.ts";
import { badRequest, type RequestUser, StatusError } from "../registry/index.ts";
import { type Authorizer, attemptOf, refusal } from "./authorizer.ts";
import type { Impersonator } from "./gate.ts";
import { type Attempt, quotedList, type ResourceAttempt } from "./rules.ts";
import {
  AUTHENTICATED,
  accountGroups,
  MASTERS,
  nodeGroups,
  splitAccount,
  splitNode,
  UNAUTHENTICATED,
  withGroup,
} from "./users.ts";

const USER = "impersonate-user";
const UID = "impersonate-uid";
const GROUP = "impersonate-group";
const EXTRA = "impersonate-extra-";
const AUTHENTICATION = "authentication.k8s.io";

/** Whom a request wants to act as, word for word. */
interface Wanted {
  readonly username: string;
  readonly uid: string;
  readonly groups: readonly string[];
  readonly extra: Readonly<Record<string, readonly string[]>>;
}

/** The user that the headers of a request name; undefined when they name none. */
export function wantedUser(request: Pick<ApiRequest, "headerValues">): Wanted | undefined {
  const all = request.headerValues?.() ?? {};
  const first = (name: string) => all[name]?.[0] ?? "";
  // No prototype: the keys are the client's.
  const extra: Record<string, string[]> = Object.create(null);
  let hasExtra = false;
  for (const [name, values] of Object.entries(all)) {
    if (!name.startsWith(EXTRA)) continue;
    hasExtra = true;
    const key = unescapeKey(name.slice(EXTRA.length));
    extra[key] = [...(lookup(extra, key) ?? []), ...(values ?? [])];
  }
  const wanted: Wanted = { username: first(USER), uid: first(UID), groups: all[GROUP] ?? [], extra };
  if (wanted.username !== "") return wanted;
  if (wanted.uid === "" && wanted.groups.length === 0 && !hasExtra) return undefined;
  throw badRequest(`requested ${goUser(wanted)} without impersonating a user name`);
}

/** Keys are percent-encoded, because a header's name cannot hold everything. */
function unescapeKey(key: string): string {
  try {
    return decodeURIComponent(key);
  } catch {
    return key;
  }
}

function goUser({ username, uid, groups, extra }: Wanted): string {
  const list = (texts: readonly string[]) => `[]string{${texts.map((text) => JSON.stringify(text)).join(", ")}}`;
  const keys = Object.keys(extra).sort();
  const map = keys.map((key) => `${JSON.stringify(key)}:${list(extra[key] ?? [])}`).join(", ");
  const shownGroups = groups.length === 0 ? "[]string(nil)" : list(groups);
  const shownExtra = keys.length === 0 ? "map[string][]string(nil)" : `map[string][]string{${map}}`;
  return `&user.DefaultInfo{Name:${JSON.stringify(username)}, UID:${JSON.stringify(uid)}, Groups:${shownGroups}, Extra:${shownExtra}}`;
}

/** A way to be permitted to act as another user. */
interface Mode {
  /** Empty for the oldest one, which permits everything that the other user may do. */
  readonly name: string;
  readonly suits: (wanted: Wanted, requester: RequestUser) => boolean;
}

const onlyNamed = ({ uid, groups, extra }: Wanted): boolean =>
  uid === "" && groups.length === 0 && Object.keys(extra).length === 0;

const NODE_NAME = "authentication.kubernetes.io/node-name";

/** The narrow ways first; the first whose refusal is told is the first that suits. */
const MODES: readonly Mode[] = [
  {
    name: "associated-node",
    suits: (wanted, requester) => {
      const node = splitNode(wanted.username);
      const [own, ...more] = requester.extra?.[NODE_NAME] ?? [];
      const account = splitAccount(requester.username) !== undefined;
      return onlyNamed(wanted) && node !== undefined && account && more.length === 0 && own === node;
    },
  },
  { name: "arbitrary-node", suits: (wanted) => onlyNamed(wanted) && splitNode(wanted.username) !== undefined },
  { name: "serviceaccount", suits: (wanted) => onlyNamed(wanted) && splitAccount(wanted.username) !== undefined },
  {
    name: "user-info",
    suits: ({ username }) => splitNode(username) === undefined && splitAccount(username) === undefined,
  },
  { name: "", suits: () => true },
];

/** Lets requests act as another user where the authorizer permits that. */
export function createImpersonator(authorizer: Authorizer): Impersonator {
  /** The way that worked last for a user is tried first, so that a refusal tells about that one. */
  const lastModes = new Map<string, Mode>();
  return (request, requester, info) => {
    const wanted = wantedUser(request);
    if (!wanted) return requester;
    const last = lastModes.get(requester.username);
    const modes = last ? [last, ...MODES.filter((mode) => mode !== last)] : MODES;
    let refused: StatusError | undefined;
    for (const mode of modes) {
      if (!mode.suits(wanted, requester)) continue;
      try {
        const user = become(authorizer, mode, wanted, requester, info);
        if (lastModes.size >= MOST_REMEMBERED) lastModes.clear();
        lastModes.set(requester.username, mode);
        return user;
      } catch (error) {
        if (!(error instanceof StatusError)) throw error;
        refused ??= error;
      }
    }
    throw refused ?? badRequest("all impersonation modes failed");
  };
}

const MOST_REMEMBERED = 10_000;

function become(
  authorizer: Authorizer,
  mode: Mode,
  wanted: Wanted,
  requester: RequestUser,
  info: RequestInfo,
): RequestUser {
  const asking = new Asking(authorizer, mode, requester);
  if (asking.narrow) {
    const attempt = attemptOf(info);
    asking.check({ ...attempt, verb: `impersonate-on:${mode.name}:${attempt.verb}` });
  }
  const groups = checkName(asking, mode, wanted);
  if (wanted.uid !== "") asking.check(asking.right("uids", wanted.uid));
  checkGroups(asking, wanted.groups);
  checkExtra(asking, wanted.extra);
  return asUser(wanted, groups);
}

/** One user who asks for the rights that one way needs. */
class Asking {
  readonly narrow: boolean;
  readonly #authorizer: Authorizer;
  readonly #mode: Mode;
  readonly #requester: RequestUser;

  constructor(authorizer: Authorizer, mode: Mode, requester: RequestUser) {
    this.narrow = mode.name !== "";
    this.#authorizer = authorizer;
    this.#mode = mode;
    this.#requester = requester;
  }

  /** The right to take over one thing. */
  right(resource: string, name: string, more: Partial<ResourceAttempt> = {}): ResourceAttempt {
    return {
      type: "resource",
      verb: this.narrow ? `impersonate:${this.#mode.name}` : "impersonate",
      group: this.narrow || resource === "uids" || resource === "userextras" ? AUTHENTICATION : "",
      resource,
      subresource: "",
      namespace: "",
      name,
      ...more,
    };
  }

  has(attempt: Attempt): boolean {
    return this.#authorizer.decide(this.#requester, attempt).allowed;
  }

  check(attempt: Attempt): void {
    const { allowed, reason } = this.#authorizer.decide(this.#requester, attempt);
    if (!allowed) this.refuse(attempt, reason);
  }

  refuse(attempt: Attempt, reason: string): never {
    throw refusal(this.#requester, attempt, reason);
  }
}

/** Checks the right to act as the user of this name; returns the groups that come with it. */
function checkName(asking: Asking, mode: Mode, { username, groups }: Wanted): readonly string[] {
  const node = asking.narrow ? splitNode(username) : undefined;
  if (node !== undefined) {
    // A node's own accounts are permitted for all nodes at once.
    asking.check(asking.right("nodes", mode.name === "associated-node" ? "*" : node));
    return nodeGroups();
  }
  const account = splitAccount(username);
  if (!account) {
    asking.check(asking.right("users", username));
    return groups;
  }
  asking.check(asking.right("serviceaccounts", account.name, { namespace: account.namespace }));
  return groups.length === 0 ? accountGroups(account.namespace) : groups;
}

/** From this many on, the right to all of them is asked for before the right to each. */
const MANY = 4;

function checkGroups(asking: Asking, groups: readonly string[]): void {
  if (asking.narrow) {
    if (groups.includes("")) {
      asking.refuse(asking.right("groups", ""), "impersonating the empty string group is not allowed");
    }
    if (groups.includes(MASTERS)) {
      asking.refuse(asking.right("groups", MASTERS), `impersonating the ${MASTERS} group is not allowed`);
    }
    if (groups.length >= MANY && asking.has(asking.right("groups", "*"))) return;
  }
  for (const group of groups) asking.check(asking.right("groups", group));
}

function checkExtra(asking: Asking, extra: Wanted["extra"]): void {
  if (asking.narrow) {
    const problem = wrongExtra(extra);
    if (problem !== undefined) asking.refuse(asking.right("userextras", ""), problem);
    const many = Object.values(extra).flat().length >= MANY;
    if (many && asking.has(asking.right("userextras", "*", { subresource: "*" }))) return;
  }
  for (const key of Object.keys(extra).sort()) {
    for (const value of extra[key] ?? []) asking.check(asking.right("userextras", value, { subresource: key }));
  }
}

/** What the narrow ways do not take as extra information. */
function wrongExtra(extra: Wanted["extra"]): string | undefined {
  for (const [key, values] of Object.entries(extra)) {
    if (key === "") return "impersonating the empty string key in extra is not allowed";
    if (!/^[^/]+\/.+$/s.test(key)) {
      const detail = `extra.key: Invalid value: ${JSON.stringify(key)}: must be a domain-prefixed path (such as "acme.io/foo")`;
      return `impersonating an invalid key in extra is not allowed: ${detail}`;
    }
    if (key !== key.toLowerCase()) {
      return `impersonating a non-lowercase key in extra is not allowed: ${quotedList([key]).slice(1, -1)}`;
    }
    if (values.length === 0) return "impersonating empty values in extra is not allowed";
    if (values.includes("")) return "impersonating the empty string value in extra is not allowed";
  }
  return undefined;
}

function asUser({ username, uid, extra }: Wanted, groups: readonly string[]): RequestUser {
  const user: RequestUser = {
    username,
    ...(uid === "" ? {} : { uid }),
    groups,
    ...(Object.keys(extra).length === 0 ? {} : { extra }),
  };
  if (username === "system:anonymous") return withGroup(user, UNAUTHENTICATED);
  return groups.includes(UNAUTHENTICATED) ? user : withGroup(user, AUTHENTICATED);
}

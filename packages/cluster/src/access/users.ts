import type { RequestUser } from "../registry/index.ts";

/** The group whose members may do everything, whatever roles say. */
export const MASTERS = "system:masters";
/** The group of every user whose credentials were checked. */
export const AUTHENTICATED = "system:authenticated";
/** The group of requests without credentials. */
export const UNAUTHENTICATED = "system:unauthenticated";
const NODES = "system:nodes";

/** The user of the cluster's own kubeconfig. */
export const ADMIN: RequestUser = { username: "kubernetes-admin", groups: [MASTERS, AUTHENTICATED] };

/** The server itself, when its controllers write. */
export const SYSTEM: RequestUser = { username: "system:apiserver", groups: [MASTERS, AUTHENTICATED] };

/** A client that sends no credentials. */
export const ANONYMOUS: RequestUser = { username: "system:anonymous", groups: [UNAUTHENTICATED] };

/** Whether roles do not count for a user. */
export const isMaster = (user: RequestUser): boolean => user.groups.includes(MASTERS);

const ACCOUNT_PREFIX = "system:serviceaccount:";
const NODE_PREFIX = "system:node:";
const SUBDOMAIN = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;
const LABEL = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/;

/** The name under which a service account acts. */
export const accountUsername = (namespace: string, name: string): string => `${ACCOUNT_PREFIX}${namespace}:${name}`;

/** The groups of a service account: of all, and of those in its namespace. */
export const accountGroups = (namespace: string): string[] => [
  "system:serviceaccounts",
  `system:serviceaccounts:${namespace}`,
];

/** The service account that a name stands for; undefined for the name of another user. */
export function splitAccount(username: string): { namespace: string; name: string } | undefined {
  if (!username.startsWith(ACCOUNT_PREFIX)) return undefined;
  const [namespace = "", name = "", ...rest] = username.slice(ACCOUNT_PREFIX.length).split(":");
  return rest.length === 0 && LABEL.test(namespace) && SUBDOMAIN.test(name) ? { namespace, name } : undefined;
}

/** The node that a name stands for. */
export function splitNode(username: string): string | undefined {
  if (!username.startsWith(NODE_PREFIX)) return undefined;
  const name = username.slice(NODE_PREFIX.length);
  return SUBDOMAIN.test(name) ? name : undefined;
}

/** The groups that come with the name of a node. */
export const nodeGroups = (): string[] => [NODES];

/** The same user as a member of one more group. */
export function withGroup(user: RequestUser, group: string): RequestUser {
  return user.groups.includes(group) ? user : { ...user, groups: [...user.groups, group] };
}

/** A user as reviews show it. Nothing that is empty is shown. */
export function userInfo(user: RequestUser): Record<string, unknown> {
  return {
    ...(user.username === "" ? {} : { username: user.username }),
    ...(user.uid ? { uid: user.uid } : {}),
    ...(user.groups.length > 0 ? { groups: user.groups } : {}),
    ...(user.extra && Object.keys(user.extra).length > 0 ? { extra: user.extra } : {}),
  };
}

/** The users that tokens stand for, as a request carries them. */
export function peopleOf(
  tokens: Readonly<
    Record<string, { readonly user: string; readonly uid?: string; readonly groups?: readonly string[] }>
  >,
): Map<string, RequestUser> {
  return new Map(
    Object.entries(tokens).map(([token, { user, uid, groups = [] }]) => [
      token,
      { username: user, ...(uid === undefined ? {} : { uid }), groups: [...groups, AUTHENTICATED] },
    ]),
  );
}

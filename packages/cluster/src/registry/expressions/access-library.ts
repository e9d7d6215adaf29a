import type { CelEngine } from "../schema/index.ts";
import type { RequestUser } from "../user.ts";
import type { AccessCheck, AccessQuestion, ResourceQuestion } from "./access-check.ts";

type Environment = ReturnType<CelEngine["environment"]>;
/** What is asked about, without the verb. */
type Asked = Omit<ResourceQuestion, "type" | "verb">;

/** `authorizer` in expressions: asks what a user may do. */
class Authorizer {
  readonly user: RequestUser;
  readonly check: AccessCheck;
  readonly requestResource: ResourceCheck;

  constructor(user: RequestUser, check: AccessCheck, request: Asked) {
    this.user = user;
    this.check = check;
    this.requestResource = new ResourceCheck(this, request);
  }
}

class PathCheck {
  readonly authorizer: Authorizer;
  readonly path: string;

  constructor(authorizer: Authorizer, path: string) {
    this.authorizer = authorizer;
    this.path = path;
  }
}

class GroupCheck {
  readonly authorizer: Authorizer;
  readonly group: string;

  constructor(authorizer: Authorizer, group: string) {
    this.authorizer = authorizer;
    this.group = group;
  }
}

class ResourceCheck {
  readonly authorizer: Authorizer;
  readonly question: Asked;

  constructor(authorizer: Authorizer, question: Asked) {
    this.authorizer = authorizer;
    this.question = question;
  }

  with(more: Partial<Asked>): ResourceCheck {
    return new ResourceCheck(this.authorizer, { ...this.question, ...more });
  }
}

class Decision {
  readonly allowed: boolean;
  readonly reason: string;

  constructor(allowed: boolean, reason: string) {
    this.allowed = allowed;
    this.reason = reason;
  }
}

function decide({ user, check }: Authorizer, question: AccessQuestion): Decision {
  const { allowed, reason } = check(user, question);
  return new Decision(allowed, reason);
}

/** The user of a service account, for questions about another user than the requester. */
function serviceAccount(namespace: string, name: string): RequestUser {
  return {
    username: `system:serviceaccount:${namespace}:${name}`,
    groups: ["system:serviceaccounts", `system:serviceaccounts:${namespace}`, "system:authenticated"],
  };
}

/** Adds the types and functions that ask for permissions. */
export function addAccessLibrary(environment: Environment): void {
  const at = "kubernetes.authorization";
  for (const [name, ctor, fields] of [
    ["PathCheck", PathCheck, {}],
    ["GroupCheck", GroupCheck, {}],
    ["ResourceCheck", ResourceCheck, {}],
    ["Decision", Decision, {}],
    ["Authorizer", Authorizer, { requestResource: `${at}.ResourceCheck` }],
  ] as const) {
    environment.registerType(`${at}.${name}`, { ctor, fields: { ...fields } });
  }
  environment
    .registerFunction(`${at}.Authorizer.path(string): ${at}.PathCheck`, (self: Authorizer, path: string) => {
      if (path === "") throw new Error("path must not be empty");
      return new PathCheck(self, path);
    })
    .registerFunction(
      `${at}.Authorizer.group(string): ${at}.GroupCheck`,
      (self: Authorizer, group: string) => new GroupCheck(self, group),
    )
    .registerFunction(
      `${at}.Authorizer.serviceAccount(string, string): ${at}.Authorizer`,
      (self: Authorizer, namespace: string, name: string) =>
        new Authorizer(serviceAccount(namespace, name), self.check, self.requestResource.question),
    )
    .registerFunction(
      `${at}.GroupCheck.resource(string): ${at}.ResourceCheck`,
      (self: GroupCheck, resource: string) =>
        new ResourceCheck(self.authorizer, {
          group: self.group,
          resource,
          subresource: "",
          namespace: "",
          name: "",
        }),
    )
    .registerFunction(`${at}.PathCheck.check(string): ${at}.Decision`, (self: PathCheck, verb: string) =>
      decide(self.authorizer, { type: "path", verb, path: self.path }),
    )
    .registerFunction(`${at}.ResourceCheck.check(string): ${at}.Decision`, (self: ResourceCheck, verb: string) =>
      decide(self.authorizer, { type: "resource", verb, ...self.question }),
    )
    .registerFunction(`${at}.Decision.allowed(): bool`, (self: Decision) => self.allowed)
    .registerFunction(`${at}.Decision.reason(): string`, (self: Decision) => self.reason)
    // The authorizers of this server never fail.
    .registerFunction(`${at}.Decision.errored(): bool`, () => false)
    .registerFunction(`${at}.Decision.error(): string`, () => "");
  for (const part of ["subresource", "namespace", "name"] as const) {
    environment.registerFunction(
      `${at}.ResourceCheck.${part}(string): ${at}.ResourceCheck`,
      (self: ResourceCheck, value: string) => self.with({ [part]: value }),
    );
  }
}

/** The `authorizer` of one request. */
export function authorizerValue(user: RequestUser, check: AccessCheck, request: Asked): object {
  return new Authorizer(user, check, request);
}

import type { Json, Script, Step } from "../script.ts";
import { asSets, reasonsInOrder } from "../views.ts";
import { apply, configMap, get, patch, post, put, type Rest, remove } from "./requests.ts";

const rbac = "/apis/rbac.authorization.k8s.io/v1";
const roles = `${rbac}/namespaces/{{ns}}/roles`;
const bindings = `${rbac}/namespaces/{{ns}}/rolebindings`;
const clusterRoles = `${rbac}/clusterroles`;
const clusterBindings = `${rbac}/clusterrolebindings`;
const configMaps = "/api/v1/namespaces/{{ns}}/configmaps";
const pods = "/api/v1/namespaces/{{ns}}/pods";
const accounts = "/api/v1/namespaces/{{ns}}/serviceaccounts";
const authorization = "/apis/authorization.k8s.io/v1";
const authentication = "/apis/authentication.k8s.io/v1";
const apiVersion = "rbac.authorization.k8s.io/v1";

/** Sent by the administrator in somebody's name. */
const as = (user: string, rest: Rest = {}): Rest => ({
  ...rest,
  headers: { "impersonate-user": user, ...rest.headers },
});
const jane = as("jane");

const rule = (verbs: string, resources: string, apiGroups = "", more: { [key: string]: Json } = {}): Json => ({
  verbs: verbs.split(","),
  apiGroups: apiGroups.split(","),
  resources: resources.split(","),
  ...more,
});
const role = (name: string, ...rules: Json[]): Json => ({ apiVersion, kind: "Role", metadata: { name }, rules });
const clusterRole = (name: string, ...rules: Json[]): Json => ({
  apiVersion,
  kind: "ClusterRole",
  metadata: { name },
  rules,
});
const ref = (kind: string, name: string): Json => ({ apiGroup: "rbac.authorization.k8s.io", kind, name });
const user = (name: string): Json => ({ apiGroup: "rbac.authorization.k8s.io", kind: "User", name });
const binding = (name: string, roleRef: Json, ...subjects: Json[]): Json => ({
  apiVersion,
  kind: "RoleBinding",
  metadata: { name },
  roleRef,
  subjects,
});
const clusterBinding = (name: string, roleRef: Json, ...subjects: Json[]): Json => ({
  apiVersion,
  kind: "ClusterRoleBinding",
  metadata: { name },
  roleRef,
  subjects,
});

const selfReview = (spec: Json): Json => ({
  apiVersion: "authorization.k8s.io/v1",
  kind: "SelfSubjectAccessReview",
  spec,
});
const review = (kind: string, spec: Json, metadata: Json = {}): Json => ({
  apiVersion: "authorization.k8s.io/v1",
  kind,
  metadata,
  spec,
});
const whoAmI = (name: string, headers: Readonly<Record<string, string>>): Step =>
  post(
    name,
    `${authentication}/selfsubjectreviews`,
    { apiVersion: "authentication.k8s.io/v1", kind: "SelfSubjectReview" },
    { headers },
  );
const mayI = (name: string, spec: Json, rest: Rest = jane): Step =>
  post(name, `${authorization}/selfsubjectaccessreviews`, selfReview(spec), rest);

/** Not `*`, which includes the right to escalate. */
const writing = "get,list,create,update,patch,delete";

const nowhere = `${'configmaps is forbidden: User "lou" cannot list resource "configmaps" in API group ""'} in the namespace "diff-access": RBAC: role.rbac.authorization.k8s.io "nowhere" not found`;

/** Who may do what, who may act as whom, and who may give what away. */
export const accessControl: Script = {
  title: "access control",
  namespace: "diff-access",
  steps: [
    get("lists without rights", configMaps, {}, jane),
    get("lists in all namespaces without rights", "/api/v1/configmaps", {}, jane),
    get("reads without rights", `${configMaps}/a`, {}, jane),
    get("lists one by name without rights", configMaps, { fieldSelector: "metadata.name=a" }, jane),
    get("watches without rights", configMaps, { watch: "1" }, jane),
    post("creates without rights", configMaps, configMap("a"), jane),
    put("replaces without rights", `${configMaps}/a`, configMap("a"), jane),
    patch("merge", "merges without rights", `${configMaps}/a`, { data: {} }, jane),
    remove("deletes without rights", `${configMaps}/a`, undefined, jane),
    remove("deletes all without rights", configMaps, undefined, jane),
    get("reads a subresource without rights", `${pods}/p/log`, {}, jane),
    post("evicts without rights", `${pods}/p/eviction`, {}, jane),
    get("lists of a group without rights", "/apis/apps/v1/namespaces/{{ns}}/deployments", {}, jane),
    get("reads a scale without rights", "/apis/apps/v1/namespaces/{{ns}}/deployments/d/scale", {}, jane),
    get("reads a namespace without rights", "/api/v1/namespaces/{{ns}}", {}, jane),
    get("reads a node without rights", "/api/v1/nodes/n", {}, jane),
    get("lists of an unknown group without rights", "/apis/nowhere.example.com/v1/things", {}, jane),
    get("lists of an unknown kind without rights", "/api/v1/namespaces/{{ns}}/things", {}, jane),
    get("reads a path without rights", "/metrics", {}, jane),
    get("reads an unknown path without rights", "/nowhere/at%20all", {}, jane),
    get("reads the keys without rights", "/openid/v1/jwks", {}, jane),
    get("reads the version with everybody's rights", "/version", {}, { ...jane, view: () => null }),
    get("reads the groups with everybody's rights", "/apis", {}, { ...jane, view: () => null }),
    get("reads the groups as nobody", "/apis", {}, as("system:anonymous")),
    get("reads the version as nobody", "/version", {}, as("system:anonymous", { view: () => null })),
    get("lists as nobody", configMaps, {}, as("system:anonymous")),
    get("lists with markup in a name", configMaps, {}, as("<b>&jane</b>")),

    post("creates a role", roles, role("reader", rule("get,list,watch", "configmaps"))),
    post("binds it", bindings, binding("jane-reads", ref("Role", "reader"), user("jane"))),
    get("lists with the right", configMaps, {}, { ...jane, until: { status: 200 }, view: () => null }),
    get("still may not list elsewhere", "/api/v1/namespaces/default/configmaps", {}, jane),
    post("still may not create", configMaps, configMap("a"), jane),
    post(
      "creates a role for one object",
      roles,
      role("one", rule("get,watch,update", "configmaps", "", { resourceNames: ["b"] })),
    ),
    post("binds it to another", bindings, binding("joe-one", ref("Role", "one"), user("joe"))),
    get("reads the one", `${configMaps}/b`, {}, as("joe", { until: { status: 404 } })),
    get("reads another than the one", `${configMaps}/c`, {}, as("joe")),
    get("lists although it may read one", configMaps, {}, as("joe")),
    post("binds a role that is not there", bindings, binding("lost", ref("Role", "nowhere"), user("lou"))),
    get(
      "lists with a binding that leads nowhere",
      configMaps,
      {},
      as("lou", { until: { status: 403, path: "message", is: nowhere } }),
    ),
    post(
      "binds a cluster role that is not there",
      bindings,
      binding("lost-2", ref("ClusterRole", "nowhere"), user("lou")),
    ),
    get(
      "waits until two bindings lead nowhere",
      configMaps,
      {},
      as("lou", {
        until: {
          status: 403,
          path: "message",
          is: 'configmaps is forbidden: User "lou" cannot list resource "configmaps" in API group "" in the namespace "diff-access": RBAC: [role.rbac.authorization.k8s.io "nowhere" not found, clusterrole.rbac.authorization.k8s.io "nowhere" not found]',
        },
        view: () => null,
      }),
    ),
    post(
      "binds the role of viewers to a group",
      bindings,
      binding("viewers", ref("ClusterRole", "view"), { ...(user("lookers") as object), kind: "Group" } as Json),
    ),
    get(
      "lists by a group",
      configMaps,
      {},
      as("gil", { headers: { "impersonate-group": "lookers" }, until: { status: 200 }, view: () => null }),
    ),
    get(
      "reads secrets by a group",
      "/api/v1/namespaces/{{ns}}/secrets",
      {},
      as("gil", { headers: { "impersonate-group": "lookers" } }),
    ),
    get(
      "reads the namespace by a group",
      "/api/v1/namespaces/{{ns}}",
      {},
      as("gil", { headers: { "impersonate-group": "lookers" }, view: () => null }),
    ),

    mayI("asks about what it may", {
      resourceAttributes: { verb: "list", resource: "configmaps", namespace: "{{ns}}" },
    }),
    mayI("asks about what it may not", {
      resourceAttributes: { verb: "create", resource: "configmaps", namespace: "{{ns}}" },
    }),
    mayI("asks about everywhere", { resourceAttributes: { verb: "list", resource: "configmaps" } }),
    mayI("asks about a path", { nonResourceAttributes: { verb: "get", path: "/apis" } }),
    mayI("asks about another path", { nonResourceAttributes: { verb: "get", path: "/metrics" } }),
    mayI(
      "asks about a group's right",
      { resourceAttributes: { verb: "list", resource: "pods", namespace: "{{ns}}" } },
      as("gil", { headers: { "impersonate-group": "lookers" } }),
    ),
    mayI(
      "asks with two bindings that lead nowhere",
      { resourceAttributes: { verb: "list", resource: "pods", namespace: "{{ns}}" } },
      as("lou", { view: reasonsInOrder }),
    ),
    mayI("asks as a master", { resourceAttributes: { verb: "*", resource: "*", group: "*" } }, {}),
    mayI("asks about nothing", {}, {}),
    mayI(
      "asks about both",
      { nonResourceAttributes: { verb: "get", path: "/" }, resourceAttributes: { verb: "get" } },
      {},
    ),
    mayI(
      "asks with an empty selector",
      { resourceAttributes: { verb: "list", resource: "pods", fieldSelector: {} } },
      {},
    ),
    mayI(
      "asks with two selectors",
      {
        resourceAttributes: {
          verb: "list",
          resource: "pods",
          labelSelector: { rawSelector: "a=b", requirements: [{ key: "a", operator: "In", values: ["b"] }] },
        },
      },
      {},
    ),
    post(
      "asks with a name",
      `${authorization}/selfsubjectaccessreviews`,
      review("SelfSubjectAccessReview", { resourceAttributes: {} }, { name: "x" }),
    ),
    post(
      "asks about somebody",
      `${authorization}/subjectaccessreviews`,
      review("SubjectAccessReview", {
        user: "jane",
        resourceAttributes: { verb: "list", resource: "configmaps", namespace: "{{ns}}" },
      }),
    ),
    post(
      "asks about a group",
      `${authorization}/subjectaccessreviews`,
      review("SubjectAccessReview", {
        groups: ["lookers"],
        resourceAttributes: { verb: "get", resource: "pods", subresource: "log", namespace: "{{ns}}" },
      }),
    ),
    post(
      "asks about nobody",
      `${authorization}/subjectaccessreviews`,
      review("SubjectAccessReview", { resourceAttributes: { verb: "get" } }),
    ),
    post(
      "asks about somebody without rights",
      `${authorization}/subjectaccessreviews`,
      review("SubjectAccessReview", { user: "x", resourceAttributes: { verb: "get" } }),
      jane,
    ),
    post(
      "asks in a namespace",
      `${authorization}/namespaces/{{ns}}/localsubjectaccessreviews`,
      review("LocalSubjectAccessReview", {
        user: "jane",
        resourceAttributes: { verb: "list", resource: "configmaps", namespace: "{{ns}}" },
      }),
    ),
    post(
      "asks in a namespace about another",
      `${authorization}/namespaces/{{ns}}/localsubjectaccessreviews`,
      review("LocalSubjectAccessReview", {
        user: "jane",
        resourceAttributes: { verb: "list", resource: "configmaps", namespace: "default" },
      }),
    ),
    post(
      "asks in a namespace about a path",
      `${authorization}/namespaces/{{ns}}/localsubjectaccessreviews`,
      review("LocalSubjectAccessReview", {
        user: "jane",
        nonResourceAttributes: { verb: "get", path: "/" },
      }),
    ),
    post(
      "asks for all rules",
      `${authorization}/selfsubjectrulesreviews`,
      { apiVersion: "authorization.k8s.io/v1", kind: "SelfSubjectRulesReview", spec: { namespace: "{{ns}}" } },
      { ...jane, view: asSets },
    ),
    post(
      "asks for all rules with a binding that leads nowhere",
      `${authorization}/selfsubjectrulesreviews`,
      { apiVersion: "authorization.k8s.io/v1", kind: "SelfSubjectRulesReview", spec: { namespace: "default" } },
      as("lou", { view: asSets }),
    ),
    post(
      "asks for all rules as a master",
      `${authorization}/selfsubjectrulesreviews`,
      { apiVersion: "authorization.k8s.io/v1", kind: "SelfSubjectRulesReview", spec: { namespace: "{{ns}}" } },
      { view: asSets },
    ),

    post(
      "lets somebody write roles",
      roles,
      role("role-writer", rule(writing, "roles,rolebindings", "rbac.authorization.k8s.io"), rule("get", "configmaps")),
    ),
    post("binds it to rob", bindings, binding("rob-writes", ref("Role", "role-writer"), user("rob"))),
    get("waits for rob's rights", roles, {}, as("rob", { until: { status: 200 }, view: () => null })),
    post("gives what it has", roles, role("small", rule("get", "configmaps")), as("rob")),
    post(
      "gives more than it has",
      roles,
      role("large", rule("get,list", "configmaps"), rule("*", "secrets")),
      as("rob"),
    ),
    post(
      "gives by name more than it has",
      roles,
      role("named", rule("get,update", "configmaps,pods", "", { resourceNames: ["a", "b"] })),
      as("rob"),
    ),
    patch("merge", "takes over what it may not", `${roles}/reader`, { metadata: { labels: { a: "b" } } }, as("rob")),
    patch("merge", "labels what it may", `${roles}/small`, { metadata: { labels: { a: "b" } } }, as("rob")),
    patch(
      "merge",
      "extends more than it may",
      `${roles}/small`,
      { rules: [rule("get,delete", "configmaps")] },
      as("rob"),
    ),
    post("binds what it has", bindings, binding("small", ref("Role", "small"), user("x")), as("rob")),
    post("binds more than it has", bindings, binding("large", ref("Role", "reader"), user("x")), as("rob")),
    post("binds what is not there", bindings, binding("none", ref("ClusterRole", "not-there"), user("x")), as("rob")),
    post(
      "binds a role that is not there as rob",
      bindings,
      binding("none", ref("Role", "not-there"), user("x")),
      as("rob"),
    ),
    post(
      "lets rob bind and escalate",
      roles,
      role(
        "binder",
        rule("bind", "roles", "rbac.authorization.k8s.io", { resourceNames: ["reader"] }),
        rule("escalate", "roles", "rbac.authorization.k8s.io"),
      ),
    ),
    post("binds that", bindings, binding("binder", ref("Role", "binder"), user("roy"))),
    post("binds that, too", bindings, binding("binder-2", ref("Role", "role-writer"), user("roy"))),
    get("waits for roy's rights", roles, {}, as("roy", { until: { status: 200 }, view: () => null })),
    post(
      "binds more than it has with the right to",
      bindings,
      binding("large", ref("Role", "reader"), user("x")),
      as("roy", { until: { status: 201 } }),
    ),
    post("gives more than it has with the right to", roles, role("large", rule("*", "secrets")), as("roy")),
    patch("merge", "changes the role of a binding", `${bindings}/large`, { roleRef: { name: "small" } }),

    post("creates a cluster role with an aggregation", clusterRoles, {
      apiVersion,
      kind: "ClusterRole",
      metadata: { name: "diff-access-all" },
      aggregationRule: { clusterRoleSelectors: [{ matchLabels: { "diff-access": "yes" } }] },
    }),
    post("creates a part of it", clusterRoles, {
      ...(clusterRole("diff-access-part", rule("get", "things", "example.com"), {
        verbs: ["get"],
        nonResourceURLs: ["/x/*"],
      }) as object),
      metadata: { name: "diff-access-part", labels: { "diff-access": "yes" } },
    } as Json),
    get(
      "waits for the whole",
      `${clusterRoles}/diff-access-all`,
      {},
      { until: { status: 200, path: "rules.0.resources.0", is: "things" } },
    ),
    post(
      "lets rob write cluster roles",
      clusterRoles,
      clusterRole("diff-access-writer", rule(writing, "clusterroles,clusterrolebindings", "rbac.authorization.k8s.io")),
    ),
    post(
      "binds that in the cluster",
      clusterBindings,
      clusterBinding("diff-access-writer", ref("ClusterRole", "diff-access-writer"), user("rob")),
    ),
    get("waits for that right", clusterRoles, {}, as("rob", { until: { status: 200 }, view: () => null })),
    post(
      "aggregates without being an administrator",
      clusterRoles,
      {
        apiVersion,
        kind: "ClusterRole",
        metadata: { name: "diff-access-mine" },
        aggregationRule: { clusterRoleSelectors: [{ matchLabels: { a: "b" } }] },
      },
      as("rob"),
    ),
    post(
      "gives paths that it does not have",
      clusterRoles,
      clusterRole("diff-access-urls", { verbs: ["get"], nonResourceURLs: ["/metrics", "/x"] } as Json),
      as("rob"),
    ),
    post(
      "makes itself an administrator",
      clusterBindings,
      clusterBinding("diff-access-admin", ref("ClusterRole", "cluster-admin"), user("rob")),
      as("rob"),
    ),
    remove("deletes a cluster role", `${clusterRoles}/diff-access-part`),
    get(
      "waits until it has left the whole",
      `${clusterRoles}/diff-access-all`,
      {},
      { until: { status: 200, path: "rules", is: null }, view: () => null },
    ),
    remove("deletes the whole", `${clusterRoles}/diff-access-all`),
    remove("deletes the right to write", `${clusterBindings}/diff-access-writer`),
    remove("deletes the writers' role", `${clusterRoles}/diff-access-writer`),

    post(
      "lets somebody patch",
      roles,
      role("patcher", rule("get,patch,update", "configmaps"), rule("update", "leases", "coordination.k8s.io")),
    ),
    post("binds that to pat", bindings, binding("patcher", ref("Role", "patcher"), user("pat"))),
    get("waits for pat's rights", `${configMaps}/applied`, {}, as("pat", { until: { status: 404 } })),
    apply("pat", "applies what is not there", `${configMaps}/applied`, configMap("applied"), as("pat")),
    put(
      "replaces what is not there",
      "/apis/coordination.k8s.io/v1/namespaces/{{ns}}/leases/l",
      {
        apiVersion: "coordination.k8s.io/v1",
        kind: "Lease",
        metadata: { name: "l" },
      },
      as("pat"),
    ),
    patch("merge", "merges what is not there", `${configMaps}/applied`, { data: {} }, as("pat")),
    post("creates what pat applies", configMaps, configMap("applied")),
    apply(
      "pat",
      "applies what is there",
      `${configMaps}/applied`,
      configMap("applied", { data: { a: "b" } }),
      as("pat"),
    ),

    whoAmI("is somebody else", { "impersonate-user": "jane" }),
    whoAmI("is somebody with a uid and more", {
      "impersonate-user": "jane",
      "impersonate-uid": "u-1",
      "impersonate-group": "a",
      "impersonate-extra-acme.com%2fproject": "x",
      "impersonate-extra-scopes": "view",
    }),
    whoAmI("is a service account", { "impersonate-user": "system:serviceaccount:default:x" }),
    whoAmI("is a node", { "impersonate-user": "system:node:n1" }),
    whoAmI("is a master", { "impersonate-user": "joe", "impersonate-group": "system:masters" }),
    whoAmI("is nobody", { "impersonate-user": "system:anonymous" }),
    whoAmI("names only a group", { "impersonate-group": "a" }),
    whoAmI("names only a uid", { "impersonate-uid": "a" }),
    whoAmI("names only extra", { "impersonate-extra-scopes": "a" }),

    post("creates an account", accounts, { apiVersion: "v1", kind: "ServiceAccount", metadata: { name: "robot" } }),
    post(
      "asks for a token",
      `${accounts}/robot/token`,
      {
        apiVersion: "authentication.k8s.io/v1",
        kind: "TokenRequest",
        spec: { audiences: ["https://kubernetes.default.svc.cluster.local"] },
      },
      { capture: { token: "status.token" }, view: withoutToken },
    ),
    post("asks for a token without a body's kind", `${accounts}/robot/token`, {}, { view: withoutToken }),
    post(
      "asks for a token for others",
      `${accounts}/robot/token`,
      { spec: { audiences: ["a", "b"], expirationSeconds: 700 } },
      { capture: { other: "status.token" }, view: withoutToken },
    ),
    post("asks for a token that lasts too short", `${accounts}/robot/token`, { spec: { expirationSeconds: 599 } }),
    post("asks for a token that lasts too long", `${accounts}/robot/token`, {
      spec: { expirationSeconds: 4294967297 },
    }),
    post("asks for a token of another name", `${accounts}/robot/token`, { metadata: { name: "other" } }),
    post("asks for a token in another namespace", `${accounts}/robot/token`, { metadata: { namespace: "other" } }),
    post("asks for a token with another uid", `${accounts}/robot/token`, { metadata: { uid: "other" } }),
    post("asks for a token of nobody", `${accounts}/nobody/token`, {}),
    post("asks for a token bound to a pod that is not there", `${accounts}/robot/token`, {
      spec: { boundObjectRef: { kind: "Pod", apiVersion: "v1", name: "p" } },
    }),
    post("asks for a token bound to a deployment", `${accounts}/robot/token`, {
      spec: { boundObjectRef: { kind: "Deployment", apiVersion: "apps/v1", name: "p" } },
    }),
    post("asks for a token without rights", `${accounts}/robot/token`, {}, jane),
    get("reads a token", `${accounts}/robot/token`),
    whoAmI("is the account by its token", { authorization: "Bearer {{token}}" }),
    get("lists as the account", configMaps, {}, { headers: { authorization: "Bearer {{token}}" } }),
    get("reads the keys as JSON", "/openid/v1/jwks", {}, { headers: { authorization: "Bearer {{token}}" } }),
    get(
      "reads the issuer as the account",
      "/.well-known/openid-configuration",
      {},
      { headers: { authorization: "Bearer {{token}}" } },
    ),
    get(
      "reads the keys as the account",
      "/openid/v1/jwks",
      {},
      {
        accept: "*/*",
        headers: { authorization: "Bearer {{token}}" },
        view: (body) => Object.keys((body as { keys: object[] }).keys[0] ?? {}).sort(),
      },
    ),
    get("uses the others' token", configMaps, {}, { headers: { authorization: "Bearer {{other}}" } }),
    get("uses a broken token", configMaps, {}, { headers: { authorization: "Bearer {{token}}x" } }),
    get(
      "impersonates without rights",
      configMaps,
      {},
      { headers: { authorization: "Bearer {{token}}", "impersonate-user": "jane" } },
    ),
    get(
      "impersonates an account without rights",
      configMaps,
      {},
      { headers: { authorization: "Bearer {{token}}", "impersonate-user": "system:serviceaccount:default:x" } },
    ),
    get(
      "impersonates on a path without rights",
      "/version",
      {},
      { headers: { authorization: "Bearer {{token}}", "impersonate-user": "jane" } },
    ),
    post(
      "reviews the token",
      `${authentication}/tokenreviews`,
      { apiVersion: "authentication.k8s.io/v1", kind: "TokenReview", spec: { token: "{{token}}" } },
      { view: withoutToken },
    ),
    post(
      "reviews the others' token",
      `${authentication}/tokenreviews`,
      { apiVersion: "authentication.k8s.io/v1", kind: "TokenReview", spec: { token: "{{other}}" } },
      { view: withoutToken },
    ),
    post(
      "reviews the others' token for them",
      `${authentication}/tokenreviews`,
      {
        apiVersion: "authentication.k8s.io/v1",
        kind: "TokenReview",
        spec: { token: "{{other}}", audiences: ["b", "c"] },
      },
      { view: withoutToken },
    ),
    post(
      "reviews a broken token",
      `${authentication}/tokenreviews`,
      { apiVersion: "authentication.k8s.io/v1", kind: "TokenReview", spec: { token: "{{token}}x" } },
      { view: withoutToken },
    ),
    post(
      "binds the account",
      bindings,
      binding("robot", ref("Role", "reader"), { kind: "ServiceAccount", name: "robot", namespace: "{{ns}}" }),
    ),
    get(
      "lists as the account with the right",
      configMaps,
      {},
      { headers: { authorization: "Bearer {{token}}" }, until: { status: 200 }, view: () => null },
    ),
    mayI(
      "asks as the account",
      { resourceAttributes: { verb: "list", resource: "configmaps", namespace: "{{ns}}" } },
      { headers: { authorization: "Bearer {{token}}" } },
    ),
    remove("deletes the account", `${accounts}/robot`),

    get(
      "lists the roles of the cluster",
      clusterRoles,
      { labelSelector: "kubernetes.io/bootstrapping=rbac-defaults" },
      { view: policy },
    ),
    get(
      "lists the bindings of the cluster",
      clusterBindings,
      { labelSelector: "kubernetes.io/bootstrapping=rbac-defaults" },
      { view: policy },
    ),
    get(
      "lists the roles of the namespaces",
      `${rbac}/roles`,
      { labelSelector: "kubernetes.io/bootstrapping=rbac-defaults" },
      { view: policy },
    ),
    get(
      "lists the bindings of the namespaces",
      `${rbac}/rolebindings`,
      { labelSelector: "kubernetes.io/bootstrapping=rbac-defaults" },
      { view: policy },
    ),
  ],
};

type Fields = { readonly [key: string]: Json };

/** Tokens are each server's own. */
function withoutToken(body: Json): Json {
  const mask = (part: Json | undefined): Json =>
    Object.fromEntries(
      Object.entries((part ?? {}) as Fields).map(([key, value]) => [key, key === "token" ? "<token>" : value]),
    );
  const { spec, status, ...rest } = body as Fields;
  return { ...rest, spec: mask(spec), status: mask(status) };
}

/** The list of roles without what is each server's own. */
function policy(body: Json): Json {
  return (body as { items: Fields[] }).items.map(({ metadata, ...rest }) => {
    const { uid: _, resourceVersion: __, ...meta } = metadata as Fields;
    return { ...rest, metadata: meta } as Json;
  });
}

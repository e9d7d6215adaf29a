import type { Script } from "../script.ts";
import { everywhere, type Fields, type Specimen, spoil } from "./mutations.ts";

const API = "admissionregistration.k8s.io/v1";
const selector = { matchLabels: { a: "b" }, matchExpressions: [{ key: "tier", operator: "NotIn", values: ["x"] }] };
// No server has these: what is stored here must not be asked about other scripts' requests.
const rule: Fields = {
  operations: ["CREATE"],
  apiGroups: ["spoilt.example.com"],
  apiVersions: ["v1"],
  resources: ["things"],
  scope: "Namespaced",
};
const hook = (more: Fields = {}): Fields => ({
  name: "one.spoilt.example.com",
  clientConfig: { url: "https://127.0.0.1:1/x" },
  rules: [rule],
  failurePolicy: "Ignore",
  matchPolicy: "Exact",
  namespaceSelector: selector,
  objectSelector: selector,
  sideEffects: "None",
  timeoutSeconds: 5,
  admissionReviewVersions: ["v1"],
  matchConditions: [{ name: "c", expression: "request.name != ''" }],
  ...more,
});
const hooks = (more: Fields): Fields => ({ webhooks: [hook(more)] });
const service = (more: Fields): Fields => hooks({ clientConfig: { service: { name: "s", namespace: "n", ...more } } });
const ruled = (more: Fields): Fields => hooks({ rules: [{ ...rule, ...more }] });

/** What is wrong with the webhooks of both kinds. */
const wrongHooks: Readonly<Record<string, Fields>> = {
  "two webhooks of one name": { webhooks: [hook(), hook()] },
  "a name of two parts": hooks({ name: "two.parts" }),
  "side effects": hooks({ sideEffects: "Some" }),
  "unknown side effects": hooks({ sideEffects: "Unknown" }),
  "a timeout of half a minute and more": hooks({ timeoutSeconds: 31 }),
  "no version that is known": hooks({ admissionReviewVersions: ["v7"] }),
  "a version twice": hooks({ admissionReviewVersions: ["v1", "v1", "V2"] }),
  "no address": hooks({ clientConfig: {} }),
  "two addresses": hooks({ clientConfig: { url: "https://a/", service: { name: "s", namespace: "n" } } }),
  "an address without a scheme": hooks({ clientConfig: { url: "a.example.com/x" } }),
  "an address that is plain": hooks({ clientConfig: { url: "http://a.example.com/x" } }),
  "an address with a user": hooks({ clientConfig: { url: "https://u:p@a.example.com/x?y=z#w" } }),
  "an address of this machine": hooks({ clientConfig: { url: "https://localhost:8443/x" } }),
  "an address with a bad port": hooks({ clientConfig: { url: "https://a.example.com:port/x" } }),
  "an address with a bad escape": hooks({ clientConfig: { url: "https://a.example.com/%zz" } }),
  "an address with a space": hooks({ clientConfig: { url: "https://a b/" } }),
  "an authority that is none": hooks({ clientConfig: { url: "https://a/", caBundle: "Zm9v" } }),
  "a service": service({}),
  "a service on a port": service({ port: 8443, path: "/a/b" }),
  "a service on no port": service({ port: 0 }),
  "a service on a high port": service({ port: 70_000 }),
  "a service below no path": service({ path: "a" }),
  "a service below an empty step": service({ path: "/a//b" }),
  "a service below two slashes": service({ path: "//" }),
  "a service below a bad step": service({ path: "/A_b" }),
  "a service without a name": service({ name: "" }),
  "a service without a namespace": service({ namespace: "" }),
  "everything and something": ruled({ operations: ["*", "CREATE"], apiGroups: ["*", "a"], apiVersions: ["*", "v1"] }),
  "all resources and one": ruled({ resources: ["*", "pods"] }),
  "all below all and one": ruled({ resources: ["*/*", "pods"] }),
  "all below one and one of them": ruled({ resources: ["pods/*", "pods/status"] }),
  "one below all and one of them": ruled({ resources: ["*/status", "pods/status"] }),
  "a resource without a name": ruled({ resources: ["", "/x"] }),
  "every scope": ruled({ scope: "*" }),
  "an operation in small letters": ruled({ operations: ["create"] }),
  "a selector with a bad value": hooks({ objectSelector: { matchLabels: { a: "not good!" } } }),
  "a condition that is no condition": hooks({ matchConditions: [{ name: "c", expression: "1" }] }),
  "a condition with a bad name": hooks({ matchConditions: [{ name: "a b", expression: "true" }] }),
  "a condition twice": hooks({
    matchConditions: [
      { name: "c", expression: "true" },
      { name: "c", expression: "false" },
    ],
  }),
  "a condition with parameters": hooks({ matchConditions: [{ name: "c", expression: "params.x == 1" }] }),
  "a condition about rights": hooks({
    matchConditions: [{ name: "c", expression: "authorizer.requestResource.check('x').allowed()" }],
  }),
  "no webhooks": { webhooks: [] },
};

const match = (more: Fields = {}): Fields => ({
  matchPolicy: "Exact",
  namespaceSelector: selector,
  objectSelector: selector,
  resourceRules: [{ ...rule, resourceNames: ["n"] }],
  excludeResourceRules: [{ ...rule, resourceNames: ["m"] }],
  ...more,
});
const policy = (more: Fields = {}): Fields => ({
  spec: {
    failurePolicy: "Fail",
    paramKind: { apiVersion: "v1", kind: "ConfigMap" },
    matchConstraints: match(),
    matchConditions: [{ name: "c", expression: "request.name != ''" }],
    variables: [{ name: "v", expression: "object.metadata.name" }],
    validations: [
      {
        expression: "variables.v == params.metadata.name",
        message: "m",
        messageExpression: "'a' + variables.v",
        reason: "Forbidden",
      },
    ],
    auditAnnotations: [{ key: "k", valueExpression: "'x' + variables.v" }],
    ...more,
  },
});

const wrongPolicies: Readonly<Record<string, Fields>> = {
  "parameters of a bad version": policy({ paramKind: { apiVersion: "a/b/c", kind: "ConfigMap" } }),
  "parameters of a bad group": policy({ paramKind: { apiVersion: "A_b/v1", kind: "Config Map" } }),
  "parameters without a version": policy({ paramKind: { apiVersion: "a/", kind: "ConfigMap" } }),
  "parameters of an unknown kind": policy({ paramKind: { apiVersion: "a.example.com/v1", kind: "Thing" } }),
  "a reserved variable": policy({ variables: [{ name: "in", expression: "1" }] }),
  "a variable that is not yet there": policy({
    variables: [
      { name: "a", expression: "variables.v" },
      { name: "v", expression: "''" },
    ],
  }),
  "a variable twice": policy({
    variables: [
      { name: "v", expression: "''" },
      { name: "v", expression: "''" },
    ],
  }),
  "a message of two lines": policy({ validations: [{ expression: "true", message: "a\nb" }] }),
  "a message of spaces": policy({ validations: [{ expression: "true", message: " ", messageExpression: " " }] }),
  "a message about rights": policy({
    validations: [{ expression: "true", messageExpression: "string(authorizer.path('/').check('get').allowed())" }],
  }),
  "annotations twice": policy({
    auditAnnotations: [
      { key: "k", valueExpression: "'x'" },
      { key: "k", valueExpression: "null" },
    ],
  }),
  "a long annotation": policy({ auditAnnotations: [{ key: "k", valueExpression: `'${"x".repeat(5_200)}'` }] }),
  "an annotation with a bad key": policy({ auditAnnotations: [{ key: "a b/c", valueExpression: "''" }] }),
  "resources with names that are paths": policy({
    matchConstraints: match({ resourceRules: [{ ...rule, resourceNames: ["a/b", "..", "n", "n"] }] }),
  }),
  "nothing to say": policy({ validations: [], auditAnnotations: [] }),
  "no constraints": policy({ matchConstraints: {} }),
};

const mutating = (more: Fields = {}): Fields => ({
  spec: {
    failurePolicy: "Fail",
    reinvocationPolicy: "Never",
    paramKind: { apiVersion: "v1", kind: "ConfigMap" },
    matchConstraints: match(),
    matchConditions: [{ name: "c", expression: "request.name != ''" }],
    variables: [{ name: "v", expression: "object.metadata.name" }],
    mutations: [
      {
        patchType: "ApplyConfiguration",
        applyConfiguration: { expression: "Object{metadata: Object.metadata{labels: {'a': variables.v}}}" },
      },
      {
        patchType: "JSONPatch",
        jsonPatch: { expression: "[JSONPatch{op: 'remove', path: '/metadata/labels'}]" },
      },
    ],
    ...more,
  },
});

const binding = (more: Fields = {}): Fields => ({
  spec: {
    policyName: "spoilt-nowhere",
    paramRef: { name: "p", namespace: "default", parameterNotFoundAction: "Deny" },
    matchResources: match(),
    ...more,
  },
});

const wrongBindings: Readonly<Record<string, Fields>> = {
  "parameters by name and labels": binding({
    paramRef: { name: "p", selector: { matchLabels: { a: "b" } }, parameterNotFoundAction: "Allow" },
  }),
  "parameters by bad labels": binding({
    paramRef: { selector: { matchLabels: { a: "not good!" } }, parameterNotFoundAction: "Allow" },
  }),
  "parameters by nothing": binding({ paramRef: { parameterNotFoundAction: "Allow" } }),
  "parameters with a path as name": binding({ paramRef: { name: "a/b", parameterNotFoundAction: "Allow" } }),
  "an unknown action without parameters": binding({ paramRef: { name: "p", parameterNotFoundAction: "Maybe" } }),
  "no matching": binding({ matchResources: {} }),
  "a policy with a bad name": binding({ policyName: "A_b" }),
};

const specimens: readonly Specimen[] = [
  ...(["Validating", "Mutating"] as const).map((side) => ({
    ...everywhere(API, `${side.toLowerCase()}webhookconfigurations`, `${side}WebhookConfiguration`),
    good: hooks(side === "Mutating" ? { reinvocationPolicy: "IfNeeded" } : {}),
    also: wrongHooks,
    changes: {
      "two webhooks of one name": { webhooks: [hook(), hook()] },
      "side effects": hooks({ sideEffects: "Some" }),
      "a condition that is no condition": hooks({ matchConditions: [{ name: "c", expression: "1" }] }),
      "no webhooks": { webhooks: null },
    },
  })),
  {
    ...everywhere(API, "validatingwebhookconfigurations", "ValidatingWebhookConfiguration"),
    label: "ValidatingWebhookConfiguration of a file",
    name: "spoilt.static.k8s.io",
    good: { webhooks: [hook()] },
  },
  {
    ...everywhere(API, "validatingadmissionpolicies", "ValidatingAdmissionPolicy"),
    good: policy(),
    also: wrongPolicies,
    changes: {
      "other parameters": { spec: { paramKind: { apiVersion: "a.example.com/v1", kind: "Thing" } } },
      "no parameters": { spec: { paramKind: null } },
      "a status": { status: { observedGeneration: 7 } },
    },
  },
  {
    ...everywhere(API, "validatingadmissionpolicybindings", "ValidatingAdmissionPolicyBinding"),
    good: binding({ validationActions: ["Deny", "Audit"] }),
    also: {
      ...wrongBindings,
      "actions that repeat each other": binding({ validationActions: ["Deny", "Warn"] }),
    },
    changes: { "another policy": { spec: { policyName: "other" } } },
  },
  {
    ...everywhere(API, "mutatingadmissionpolicies", "MutatingAdmissionPolicy"),
    good: mutating(),
    also: {
      "a mutation of what goes": mutating({
        matchConstraints: match({ resourceRules: [{ ...rule, operations: ["DELETE"] }] }),
      }),
      "a mutation of another sort": mutating({
        mutations: [{ patchType: "JSONPatch", applyConfiguration: { expression: "Object{}" } }],
      }),
      "a mutation that gives a text": mutating({
        mutations: [{ patchType: "JSONPatch", jsonPatch: { expression: "'x'" } }],
      }),
      "no mutations": mutating({ mutations: [] }),
    },
    changes: { "no parameters": { spec: { paramKind: null } } },
  },
  {
    ...everywhere(API, "mutatingadmissionpolicybindings", "MutatingAdmissionPolicyBinding"),
    good: binding(),
    also: {
      ...wrongBindings,
      "a mutation of what goes": binding({
        matchResources: match({ resourceRules: [{ ...rule, operations: ["DELETE"] }] }),
      }),
    },
    changes: { "another policy": { spec: { policyName: "other" } } },
  },
];

/** Webhooks, policies and their bindings with each field wrong once, and changed once. */
export const spoiltAdmission: Script = {
  title: "fields of admission",
  steps: specimens.flatMap(spoil),
};

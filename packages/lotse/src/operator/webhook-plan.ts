/** What the API server is to be told of an operator. Pure. */
import {
  type KindDescription,
  type KubeBody,
  MutatingAdmissionPolicy,
  MutatingAdmissionPolicyBinding,
  MutatingWebhookConfiguration,
  ValidatingAdmissionPolicy,
  ValidatingAdmissionPolicyBinding,
  ValidatingWebhookConfiguration,
} from "@lotse/client";
import {
  type JudgedKind,
  type PolicyObjects,
  policyObjects,
  type Registered,
  type RegistrationPlan,
  type WebhookAddress,
  webhookConfigurations,
} from "../admission/index.ts";
import { type Declarations, registeredLabels } from "../declare/index.ts";

/** What a plan is made of. */
export interface RegistrationInput {
  readonly operator: string;
  readonly declarations: Pick<Declarations, "admission" | "policies">;
  readonly kinds: readonly JudgedKind[];
  readonly discovered: readonly KindDescription[];
  /** The only namespaces that the operator serves; undefined when it serves all, or such as no selector can name. */
  readonly served: readonly string[] | undefined;
  /** Undefined where nothing is asked of the operator. */
  readonly address: WebhookAddress | undefined;
  readonly caBundle: string | undefined;
  /** The version in which the cluster serves MutatingAdmissionPolicy; undefined where no policy changes anything. */
  readonly mutatingVersion: string | undefined;
}

/** See the module comment. */
export function planRegistration(input: RegistrationInput): RegistrationPlan {
  const { operator, declarations, discovered, served } = input;
  const policies = policyObjects({
    operator,
    policies: declarations.policies,
    discovered,
    served,
    mutatingVersion: input.mutatingVersion ?? MutatingAdmissionPolicy.description.version,
  });
  const labels = registeredLabels(operator);
  const wanted = [...configurations(input), ...policies.flatMap(registeredPolicy)];
  const kinds = new Map(wanted.map(({ kind }) => [kind.plural, kind]));
  // A handler less may be a configuration less, while the operator runs on.
  if (input.address) {
    for (const { description } of CONFIGURATIONS) kinds.set(description.plural, description);
  }
  return { wanted, queries: [...kinds.values()].map((kind) => ({ kind, labels })) };
}

const CONFIGURATIONS = [ValidatingWebhookConfiguration, MutatingWebhookConfiguration];
const POLICIES = [
  ValidatingAdmissionPolicyBinding,
  ValidatingAdmissionPolicy,
  MutatingAdmissionPolicyBinding,
  MutatingAdmissionPolicy,
];

function configurations({ operator, kinds, address, caBundle, served }: RegistrationInput): Registered[] {
  if (!address) return [];
  const own = "service" in address ? [address.service.namespace] : [];
  const { validating, mutating } = webhookConfigurations({
    operator,
    kinds,
    address,
    caBundle,
    namespaces: { spared: ["kube-system", ...own], served },
  });
  const entry = (kind: KindDescription, body: KubeBody | undefined): Registered[] =>
    body ? [{ kind, body, title: `the ${kind.kind} ${body.metadata?.name}` }] : [];
  return [
    ...entry(ValidatingWebhookConfiguration.description, validating),
    ...entry(MutatingWebhookConfiguration.description, mutating),
  ];
}

/** The binding comes last: a policy judges nothing before it is bound. */
function registeredPolicy({ declaration: { id, sourceLocation }, policy, binding }: PolicyObjects): Registered[] {
  const title = `the policy "${id}"${sourceLocation === undefined ? "" : ` (${sourceLocation})`}`;
  return [policy, binding].map((body) => ({ kind: policyKind(body), body, title }));
}

function policyKind({ apiVersion = "", kind = "" }: KubeBody): KindDescription {
  const [group = "", version = ""] = apiVersion.split("/");
  const known = POLICIES.find(({ description }) => description.kind === kind);
  return { ...(known ?? ValidatingAdmissionPolicy).description, group, version };
}

/** The kinds as they are judged when the operator has stopped: by those whose requests another process will answer. */
export function remainingAfter(kinds: readonly JudgedKind[], address: WebhookAddress): JudgedKind[] {
  const usual = "service" in address;
  return kinds.map((judged) => ({
    ...judged,
    handlers: judged.handlers.filter(({ persistent }) => persistent ?? usual),
  }));
}

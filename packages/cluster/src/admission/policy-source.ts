import { matchesLabels } from "@lotse/client/meta";
import {
  type AdmissionAttributes,
  type ApiObject,
  convertObject,
  type Endpoint,
  fromStore,
  isRecord,
  objectAt,
  readSelector,
  StatusError,
  storageEndpoint,
} from "../registry/index.ts";
import type { Entry } from "../store/index.ts";
import { type Criteria, matchRequest, readCriteria } from "./matching.ts";
import { type AdmissionBackend, namespaceOf } from "./request.ts";

/** A binding of a policy: where it applies, with which parameters. */
export interface Binding {
  readonly name: string;
  readonly spec: Record<string, unknown>;
  readonly criteria: Criteria | undefined;
}

/** A policy that at least one binding makes effective. */
export interface Policy<T> {
  readonly name: string;
  readonly spec: Record<string, unknown>;
  readonly criteria: Criteria;
  readonly ignoresFailure: boolean;
  readonly bindings: readonly Binding[];
  /** Its expressions, compiled. */
  readonly compiled: T;
}

/** The policies of one kind with their bindings; read anew only when one of them changed. */
export class PolicySource<T> {
  readonly #backend: AdmissionBackend;
  readonly #tables: { readonly policies: string; readonly bindings: string };
  readonly #compile: (spec: Record<string, unknown>) => Promise<T>;
  #entries: readonly Entry[] = [];
  #policies: Promise<readonly Policy<T>[]> = Promise.resolve([]);

  constructor(
    backend: AdmissionBackend,
    tables: { readonly policies: string; readonly bindings: string },
    compile: (spec: Record<string, unknown>) => Promise<T>,
  ) {
    this.#backend = backend;
    this.#tables = tables;
    this.#compile = compile;
  }

  current(): Promise<readonly Policy<T>[]> {
    const { store } = this.#backend;
    const policies = store.list(this.#tables.policies);
    const bindings = store.list(this.#tables.bindings);
    const entries = [...policies, ...bindings];
    const same = entries.length === this.#entries.length && entries.every((entry, i) => entry === this.#entries[i]);
    if (!same) {
      this.#entries = entries;
      this.#policies = this.#read(policies, bindings.map(readBinding));
    }
    return this.#policies;
  }

  async #read(entries: readonly Entry[], bindings: readonly Binding[]): Promise<readonly Policy<T>[]> {
    const policies: Policy<T>[] = [];
    for (const entry of entries) {
      const own = bindings.filter(({ spec }) => spec.policyName === entry.key);
      if (own.length === 0) continue;
      const spec = objectAt(entry.object, "spec");
      policies.push({
        name: entry.key,
        spec,
        criteria: readCriteria(spec.matchConstraints, "resourceRules"),
        ignoresFailure: spec.failurePolicy === "Ignore",
        bindings: own,
        compiled: await this.#compile(spec),
      });
    }
    return policies;
  }
}

function readBinding(entry: Entry): Binding {
  const spec = objectAt(entry.object, "spec");
  const resources = spec.matchResources;
  return {
    name: entry.key,
    spec,
    criteria: isRecord(resources) ? readCriteria(resources, "resourceRules") : undefined,
  };
}

/** A policy that is to look at a request, once for each parameter; or why it cannot. */
export type Invocation<T> = {
  readonly policy: Policy<T>;
  readonly binding: Binding | undefined;
} & ({ readonly matched: Endpoint; readonly params: ApiObject | null } | { readonly error: string });

/** Which policies look at a request. */
export async function invocationsOf<T>(
  policies: readonly Policy<T>[],
  attributes: AdmissionAttributes,
  backend: AdmissionBackend,
): Promise<Invocation<T>[]> {
  const found: Invocation<T>[] = [];
  for (const policy of policies) {
    try {
      const matched = matchRequest(attributes, policy.criteria, backend);
      if (!matched) continue;
      const source = paramSource(policy, backend);
      for (const binding of policy.bindings) {
        found.push(...(await bindingInvocations(policy, binding, matched, source, attributes, backend)));
      }
    } catch (error) {
      found.push({ policy, binding: undefined, error: `failed to configure policy: ${messageOf(error)}` });
    }
  }
  return found;
}

async function bindingInvocations<T>(
  policy: Policy<T>,
  binding: Binding,
  matched: Endpoint,
  source: Endpoint | undefined,
  attributes: AdmissionAttributes,
  backend: AdmissionBackend,
): Promise<Invocation<T>[]> {
  try {
    if (binding.criteria && !matchRequest(attributes, binding.criteria, backend)) return [];
    const params = await collectParams(source, binding, namespaceOf(attributes), backend);
    return params.map((param) => ({ policy, binding, matched, params: param }));
  } catch (error) {
    return [{ policy, binding, error: `failed to configure binding: ${messageOf(error)}` }];
  }
}

/** Refusals of a configuration are errors like any other here; what is broken in this server is not. */
function messageOf(error: unknown): string {
  if (error instanceof ConfigurationError || error instanceof StatusError) return error.message;
  throw error;
}

class ConfigurationError extends Error {}

/** The kind of the parameters in the version that the policy names; undefined for a policy without any. */
function paramSource<T>({ spec }: Policy<T>, { catalog }: AdmissionBackend): Endpoint | undefined {
  if (!isRecord(spec.paramKind)) return undefined;
  const apiVersion = String(spec.paramKind.apiVersion);
  const kind = String(spec.paramKind.kind);
  const slash = apiVersion.indexOf("/");
  const group = slash < 0 ? "" : apiVersion.slice(0, slash);
  const resource = catalog.byKind(group, kind);
  const version = resource?.versions.get(apiVersion.slice(slash + 1));
  if (resource && version) return { resource, version };
  const shown = `${slash < 0 ? `/${apiVersion}` : apiVersion}, Kind=${kind}`;
  throw new ConfigurationError(`failed to find resource referenced by paramKind: '${shown}'`);
}

async function collectParams(
  source: Endpoint | undefined,
  binding: Binding,
  requestNamespace: string,
  { store }: AdmissionBackend,
): Promise<(ApiObject | null)[]> {
  const ref = binding.spec.paramRef;
  if (!source || !isRecord(ref)) return [null];
  const given = typeof ref.namespace === "string" ? ref.namespace : "";
  const { resource } = source;
  if (given !== "" && !resource.namespaced) {
    throw new ConfigurationError("paramRef.namespace must not be provided for a cluster-scoped `paramKind`");
  }
  const namespace = given || requestNamespace;
  if (resource.namespaced && namespace === "") {
    const text = "cannot use namespaced paramRef in policy binding that matches cluster-scoped resources";
    throw new ConfigurationError(text);
  }
  const prefix = resource.namespaced ? `${namespace}/` : "";
  const found = typeof ref.name === "string" && ref.name !== "" ? [store.get(resource.table, prefix + ref.name)] : [];
  if (isRecord(ref.selector)) {
    const selector = readSelector(ref.selector);
    const all = store.list(resource.table, prefix);
    if (selector) found.push(...all.filter(({ object }) => matchesLabels(selector, fromStore(object).metadata.labels)));
  }
  const stored = found.filter((entry) => entry !== undefined);
  if (stored.length === 0 && ref.parameterNotFoundAction === "Deny") {
    throw new ConfigurationError("no params found for policy binding with `Deny` parameterNotFoundAction");
  }
  const storage = storageEndpoint(resource) ?? source;
  return Promise.all(stored.map((entry) => convertObject(fromStore(entry.object), storage, source)));
}

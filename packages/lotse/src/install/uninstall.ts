/** Takes everything that an operator has put on objects off again, so that nothing waits for it any more. */
import {
  type Client,
  ConflictError,
  ForbiddenError,
  type KindDescription,
  type KubeBody,
  type KubeObject,
  Lease,
  NotFoundError,
  Secret,
} from "@lotse/client";
import { createMergePatch, type JsonObject } from "@lotse/client/meta";
import {
  type Declarations,
  type OperatorOptions,
  planKinds,
  registeredLabels,
  registeredLease,
  settingsFor,
} from "../declare/index.ts";
import { allStorages, annotationStorage, type RecordStorage } from "../turn/index.ts";

/** What was taken off one object. */
export interface UninstallResult {
  readonly kind: KindDescription;
  readonly namespace: string | undefined;
  readonly name: string;
  /** `registration`: the object itself was the operator's, and is deleted: webhooks, policies, certificates, notes. */
  readonly marks: readonly ("finalizer" | "record" | "registration")[];
}

/** How to uninstall. */
export interface UninstallRequest {
  /** Only in these namespaces. Default: all. */
  readonly namespaces?: readonly string[] | undefined;
  /** Only tell. */
  readonly dryRun?: boolean | undefined;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Takes the finalizers and records of an operator off all objects, and tells of each object that carried one; before
 * that, removes what the operator has told the API server of itself. The operator must not run meanwhile.
 *
 * @example
 * ```ts
 * for await (const { name, marks } of uninstallOperator(operator, client)) console.log(name, marks);
 * ```
 */
export async function* uninstallOperator(
  operator: Pick<Declarations, "resources"> & { readonly name: string; readonly options: OperatorOptions },
  client: Client,
  { namespaces, dryRun = false, signal }: UninstallRequest = {},
): AsyncGenerator<UninstallResult> {
  const { kinds: discovered } = await client.discover({ refresh: true });
  const { kinds } = planKinds(operator.resources, discovered);
  const storages = storagesOf(operator.name, operator.options);
  // First: webhooks of an operator that does not run would refuse every change of its objects.
  for (const name of [operator.name, ...(operator.options.formerNames ?? [])]) {
    yield* unregister(client, name, discovered, { dryRun, signal });
  }
  for (const { kind, handlers } of kinds.values()) {
    // Installed once and gone since: then its objects are gone as well.
    if (!discovered.some(({ group, plural }) => group === kind.group && plural === kind.plural)) continue;
    const ids = handlers.filter(({ type }) => type === "change").map(({ id }) => id);
    const scopes = kind.namespaced && namespaces ? namespaces : ["*"];
    for (const namespace of scopes) {
      for await (const object of client.list(kind, { namespace, ...(signal && { signal }) })) {
        const marks = await unmark(object, storages, ids, dryRun);
        if (marks.length > 0) yield { kind, namespace: object.namespace, name: object.name, marks };
      }
    }
  }
}

/** Removes webhooks, policies and certificates of the operator. */
async function* unregister(
  client: Client,
  operator: string,
  discovered: readonly KindDescription[],
  { dryRun, signal }: Pick<UninstallRequest, "dryRun" | "signal">,
): AsyncGenerator<UninstallResult> {
  // Loaded here alone: an operator that judges nothing needs none of it.
  const { CERTIFICATES_LABEL } = await import("../admission/index.ts");
  const registered = discovered.filter(
    ({ group, plural }) =>
      group === "admissionregistration.k8s.io" && /(webhookconfigurations|policies|policybindings)$/.test(plural),
  );
  // Bindings go before their policies: a policy that is not bound judges nothing.
  const ordered = registered.sort(
    (a, b) => Number(b.plural.endsWith("bindings")) - Number(a.plural.endsWith("bindings")),
  );
  const queries: { kind: KindDescription; labelSelector: Readonly<Record<string, string>>; only?: string }[] = [
    ...ordered.map((kind) => ({ kind, labelSelector: registeredLabels(operator) })),
    { kind: Secret.description, labelSelector: { [CERTIFICATES_LABEL]: operator } },
    // The note of all this goes last: what interrupts this leaves a trace of what is left.
    { kind: Lease.description, labelSelector: registeredLabels(operator), only: registeredLease(operator) },
  ];
  for (const { kind, labelSelector, only } of queries) {
    try {
      for await (const object of client.list(kind, { namespace: "*", labelSelector, ...(signal && { signal }) })) {
        if (only !== undefined && object.name !== only) continue;
        if (!dryRun) await client.delete(object, { ignoreNotFound: true, ...(signal && { signal }) });
        yield { kind, namespace: object.namespace, name: object.name, marks: ["registration"] };
      }
    } catch (error) {
      // Whoever may not see them has not registered them either.
      if (!(error instanceof ForbiddenError)) throw error;
    }
  }
}

/** An operator may have been another version once: its records are looked for in all places where it keeps them. */
function storagesOf(name: string, options: OperatorOptions): readonly RecordStorage[] {
  const { storage, finalizer } = settingsFor(options).persistence;
  const storages = allStorages(name, options.formerNames ?? [], storage);
  return finalizer === undefined ? storages : [...storages, { ...annotationStorage(name), finalizer }];
}

const ATTEMPTS = 5;

async function unmark(
  object: KubeObject,
  storages: readonly RecordStorage[],
  ids: readonly string[],
  dryRun: boolean,
): Promise<UninstallResult["marks"]> {
  for (let attempt = 1; ; attempt++) {
    const body = object.body as KubeBody;
    const { marks, patches } = unmarking(body, storages, ids);
    if (marks.length === 0 || dryRun) return marks;
    try {
      for (const { subresource, patch } of patches) await object.patch(patch, subresource ? { subresource } : {});
      return marks;
    } catch (error) {
      if (error instanceof NotFoundError) return marks;
      if (!(error instanceof ConflictError) || attempt === ATTEMPTS) throw error;
      await object.refresh();
    }
  }
}

/** What is on `body`, and the patches that take it off. The one with the finalizer comes last: it may end the object. */
export function unmarking(body: KubeBody, storages: readonly RecordStorage[], ids: readonly string[]) {
  const cleared = storages.reduce((rest, storage) => storage.write(rest, undefined, ids), body);
  const record = createMergePatch(body, cleared) as JsonObject | undefined;
  const ours = new Set(storages.flatMap(({ finalizer, formerFinalizers = [] }) => [finalizer, ...formerFinalizers]));
  const { finalizers = [], resourceVersion } = body.metadata ?? {};
  const others = finalizers.filter((name) => !ours.has(name));
  const held = others.length < finalizers.length;
  const marks: ("finalizer" | "record")[] = [
    ...(held ? (["finalizer"] as const) : []),
    ...(record ? (["record"] as const) : []),
  ];
  const { status, ...rest } = record ?? {};
  const patches: { readonly subresource: "status" | undefined; readonly patch: JsonObject }[] = [];
  if (status !== undefined) patches.push({ subresource: "status", patch: { status } });
  if (held || Object.keys(rest).length > 0) {
    const metadata = {
      ...(rest.metadata as JsonObject | undefined),
      // A list is replaced as a whole: another client that has put a finalizer on meanwhile must not lose it. After a
      // patch of the status the version is another one, and that patch has just shown that no other client was faster.
      ...(held && { finalizers: others }),
      ...(held && status === undefined && resourceVersion !== undefined && { resourceVersion }),
    };
    patches.push({ subresource: undefined, patch: { ...rest, metadata } });
  }
  return { marks, patches };
}

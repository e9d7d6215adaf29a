/** What is judged by whom. Pure. */
import { apiVersionOf, type KindClass, type KindDescription } from "@lotse/client";
import { kindKey } from "@lotse/client/meta";
import {
  type AdmissionDeclaration,
  type AdmissionHandler,
  DeclarationError,
  isResourceClass,
  parseSelector,
  type ResourceInput,
  selectKinds,
} from "../../declare/index.ts";

/** The schema of a kind, as far as it is known: which fields there are. */
export type FieldSchema = Readonly<Record<string, unknown>>;

/** A kind that is judged, and the handlers that judge it. */
export interface JudgedKind {
  readonly kind: KindDescription;
  /** The user's class, where the kind was declared by one. */
  readonly kindClass: KindClass | undefined;
  /** Of the whole object, where the kind was made by `resource()`. */
  readonly schema: FieldSchema | undefined;
  readonly handlers: readonly AdmissionHandler[];
}

/**
 * The kinds that are judged, each with all of its handlers, in the order of their declaration. `discovered` are those of
 * the cluster that selectors may mean; a class is judged whether or not the cluster has its kind yet.
 */
export function judgedKinds(
  declarations: readonly AdmissionDeclaration[],
  discovered: readonly KindDescription[],
): JudgedKind[] {
  const judged = new Map<string, { -readonly [K in keyof JudgedKind]: JudgedKind[K] }>();
  const add = (kind: KindDescription, kindClass: KindClass | undefined, handlers: readonly AdmissionHandler[]) => {
    // The same kind in another version is another class, whose handlers see other fields.
    const key = `${apiVersionOf(kind)}/${kind.plural}`;
    const known = judged.get(key);
    if (!known) judged.set(key, { kind, kindClass, schema: schemaOf(kind, kindClass), handlers });
    else {
      if (kindClass && !known.kindClass) Object.assign(known, { kind, kindClass, schema: schemaOf(kind, kindClass) });
      known.handlers = [...known.handlers, ...handlers];
    }
  };
  for (const { resource, handlers } of declarations) {
    for (const { kind, kindClass } of kindsOf(resource, discovered)) add(kind, kindClass, handlers);
  }
  const kinds = [...judged.values()];
  for (const one of kinds) checkIds(one, kinds);
  return kinds;
}

/** The kinds that a declared resource means: its own, or those of the cluster that it selects. */
export function kindsOf(
  resource: ResourceInput,
  discovered: readonly KindDescription[],
): readonly Pick<JudgedKind, "kind" | "kindClass">[] {
  const selector = parseSelector(resource);
  if (selector.type !== "exact") {
    return selectKinds(selector, discovered, { verbs: [] }).kinds.map((kind) => ({ kind, kindClass: undefined }));
  }
  const kindClass = typeof resource === "function" ? (resource as KindClass) : undefined;
  return [{ kind: kindClass?.description ?? (resource as KindDescription), kindClass }];
}

/** One id stands for one handler of a kind, however the kind was named where the handlers were declared. */
function checkIds({ kind }: JudgedKind, kinds: readonly JudgedKind[]): void {
  const handlers = kinds.filter((one) => kindKey(one.kind) === kindKey(kind)).flatMap((one) => one.handlers);
  const twice = handlers.find(({ id }, at) => handlers.findIndex((other) => other.id === id) < at);
  if (!twice) return;
  throw new DeclarationError(
    `handler id "${twice.id}" is used twice for ${kind.kind}, which was declared under two names`,
    { hint: 'name one of them with { id: "…" }' },
  );
}

function schemaOf(kind: KindDescription, kindClass: KindClass | undefined): FieldSchema | undefined {
  if (!isResourceClass(kindClass)) return undefined;
  const version = kindClass.crd().spec?.versions.find(({ name }) => name === kind.version);
  return version?.schema?.openAPIV3Schema as FieldSchema | undefined;
}

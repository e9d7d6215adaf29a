/** Whether the conversions of an operator's kinds lose or spoil anything, and which of their versions are still needed. */
import {
  type ConversionFault,
  type ConversionProof,
  checkConversions,
  KEPT_ANNOTATION,
  withConversion,
} from "../../admission/index.ts";
import { type Conversion, isResourceClass, type ResourceClass } from "../../declare/index.ts";
import { storedVersionsOf } from "../../install/index.ts";
import { compareDefinitions } from "../../schema/index.ts";
import { importCluster, type ObjectJudge } from "../local-cluster/index.ts";
import type { LoadedOperator } from "../project/index.ts";
import type { Definition } from "./against.ts";
import type { Finding } from "./findings.ts";

type AnyKind = ResourceClass<unknown, unknown>;
type Conversions = ReadonlyMap<string, Conversion>;

/** What was found, and what was looked at. */
export interface ConversionsReport {
  readonly findings: readonly Finding[];
  readonly checked: string | undefined;
}

/** Tries all conversions with objects that are made from the schemas, of definitions that a server takes. */
export async function checkConversionsOf(
  operators: readonly LoadedOperator[],
  isTaken: (definition: string) => boolean,
): Promise<ConversionsReport> {
  const findings: Finding[] = [];
  const tried: string[] = [];
  for (const [kind, conversions] of kindsOf(operators)) {
    const { group, plural } = kind.description;
    if (conversions.size === 0 || !isTaken(`${plural}.${group}`)) continue;
    const proof = checkConversions(kind, { conversions, judge: await judgeOf(kind) });
    tried.push(`${proof.kind} with ${proof.objects} objects`);
    findings.push(...findingsOf(proof, kind));
  }
  return { findings, checked: tried.length > 0 ? `conversions (${tried.join(", ")})` : undefined };
}

/** Each kind once, whichever of its versions are handled, with all of its conversions. */
function kindsOf(operators: readonly LoadedOperator[]): Map<AnyKind, Conversions> {
  const names = new Set<string>();
  const found = new Map<AnyKind, Conversions>();
  for (const { operator } of operators) {
    const declared = declaredOf(operator);
    const kinds = [...operator.resources.map(({ resource }) => resource), ...declared.keys()].filter(isResourceClass);
    for (const kind of kinds) {
      const { group, plural } = kind.description;
      if (names.has(`${plural}.${group}`)) continue;
      names.add(`${plural}.${group}`);
      const others = [...declared].filter(([one]) => one.versions === kind.versions).flatMap(([, some]) => [...some]);
      found.set(kind, new Map([...kind.conversions, ...others]));
    }
  }
  return found;
}

/** What `operator.on.convert` has declared. */
function declaredOf(operator: object): ReadonlyMap<AnyKind, Conversions> {
  const { conversions } = operator as { readonly conversions?: ReadonlyMap<AnyKind, Conversions> };
  return conversions ?? new Map();
}

/** Rules in CEL are judged where the embedded cluster is installed; its engine is large, and most kinds have none. */
async function judgeOf(kind: AnyKind): Promise<ObjectJudge | undefined> {
  const crd = kind.crd();
  if (!JSON.stringify(crd).includes('"x-kubernetes-validations"')) return undefined;
  const found = await importCluster().catch(() => undefined);
  return found?.objectJudge(crd);
}

function findingsOf(proof: ConversionProof, { lossless }: AnyKind): Finding[] {
  const { kind, place, faults, kept, gaps } = proof;
  const at = (...parts: readonly (string | undefined)[]) => parts.filter(Boolean).join(" ");
  return [
    ...faults.map((fault): Finding => faultFinding(fault, at(place, kind, fault.trip.join(" → ")), lossless)),
    ...gaps.map(
      ({ version, path, what, todo }): Finding => ({
        level: "warning",
        check: "conversions",
        place: at(place, kind, version, path),
        message: what,
        todo,
      }),
    ),
    ...kept.map(
      ({ version, holder, paths }): Finding => ({
        level: "note",
        check: "conversions",
        place: at(place, kind, version),
        message: `cannot hold ${paths.join(", ")} of ${holder}: kept in the annotation ${KEPT_ANNOTATION}`,
      }),
    ),
  ];
}

/** A loss that was asked for is worth a word, and no more. */
function faultFinding({ mistake, what, object, details }: ConversionFault, place: string, lossless: boolean): Finding {
  const asked = mistake === "differs" && !lossless;
  return {
    level: asked ? "warning" : "error",
    check: "conversions",
    place,
    message: `${what}: ${JSON.stringify(object)}: ${details.join("; ")}`,
    ...(asked && { todo: "leave lossless: false out to keep it" }),
  };
}

/**
 * The definitions as they will be installed, as far as a comparison goes: objects of a kind with conversions are
 * converted, wherever the operator will be reached.
 */
export function asConverted(
  definitions: ReadonlyMap<string, Definition>,
  operators: readonly LoadedOperator[],
): ReadonlyMap<string, Definition> {
  const converted = new Set<string>();
  for (const [kind, conversions] of kindsOf(operators)) {
    const { group, plural } = kind.description;
    if (conversions.size > 0) converted.add(`${plural}.${group}`);
  }
  const url = "https://localhost";
  return new Map(
    [...definitions].map(([name, crd]) => [name, converted.has(name) ? withConversion(crd, { url }, undefined) : crd]),
  );
}

/**
 * Which versions of the cluster's definitions can go, and which cannot yet. That one is gone too early is said by the
 * comparison with the cluster, or where something else was compared, here.
 */
export function storedFindings(
  definitions: ReadonlyMap<string, Definition>,
  installed: ReadonlyMap<string, Definition>,
  compared: boolean,
): Finding[] {
  const found: Finding[] = [];
  for (const [name, crd] of definitions) {
    const there = installed.get(name);
    if (!there?.spec) continue;
    const { storage, old } = storedVersionsOf(there);
    const declared = new Set(crd.spec?.versions.map((version) => version.name));
    const kind = there.spec.names.kind;
    if (!compared) found.push(...goneTooEarly(there, crd, kind));
    for (const { name: version } of there.spec.versions) {
      if (version === storage || !declared.has(version)) continue;
      const note = { level: "note", check: "compatibility", place: `${kind} ${version}` } as const;
      if (old.includes(version)) {
        const message = `objects may still be stored in it (storedVersions), hence it cannot be dropped yet`;
        found.push({ ...note, message, todo: `lotse migrate ${name}` });
      } else
        found.push({ ...note, message: "no object is stored in it: it can be dropped when no client asks for it" });
    }
  }
  return found;
}

function goneTooEarly(installed: Definition, crd: Definition, kind: string): Finding[] {
  const stored = new Set(installed.status?.storedVersions ?? []);
  return compareDefinitions(installed, crd)
    .filter(({ effect, version }) => effect === "broken" && version !== undefined && stored.has(version))
    .map(({ version, what, todo }) => ({
      level: "error",
      check: "compatibility",
      place: `${kind} ${version}`,
      message: what,
      todo,
    }));
}

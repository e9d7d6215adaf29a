/**
 * From what an operator needs to the rules of a Role: as few and as narrow as possible, each with a word about who
 * needs it.
 */

/** One thing that an operator has to be allowed to do. */
export interface Need {
  /** `""` for the core group. */
  readonly group: string;
  /** Plural, or `plural/subresource`. */
  readonly resource: string;
  readonly verbs: readonly string[];
  /** Only objects of these names. */
  readonly names?: readonly string[] | undefined;
  /** Who needs it, and what for: `the framework: follows Machine`, `handler publish`. */
  readonly by: string;
  /** Where that is written: `operator.ts:12`. */
  readonly sourceLocation?: string | undefined;
  /** Needed in the whole cluster, however few namespaces the operator serves. */
  readonly clusterWide: boolean;
  /** Needed in the namespace in which the operator itself runs, and in no other, whichever it serves. */
  readonly inOwnNamespace?: boolean | undefined;
  /** The namespace that this is instead, where the operator keeps such things elsewhere. */
  readonly namespace?: string | undefined;
}

/** A rule of a Role. */
export interface Rule {
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly verbs: readonly string[];
  readonly resourceNames?: readonly string[];
  /** Who needs it, with all places: `handler publish (operator.ts:12, 20)`. */
  readonly by: readonly string[];
}

/** The rules that allow all of `needs` and nothing else, in a stable order. */
export function rulesFor(needs: readonly Need[]): Rule[] {
  const single = new Map<string, { need: Need; verbs: Set<string>; by: Map<string, Set<string>> }>();
  for (const need of needs) {
    const key = JSON.stringify([need.group, need.resource, [...(need.names ?? [])].sort()]);
    const known = single.get(key) ?? { need, verbs: new Set(), by: new Map() };
    for (const verb of need.verbs) known.verbs.add(verb);
    const places = known.by.get(need.by) ?? new Set();
    known.by.set(need.by, need.sourceLocation === undefined ? places : places.add(need.sourceLocation));
    single.set(key, known);
  }
  // Resources of one group that need the same, for the same reason, share a rule.
  const rules = new Map<string, Rule & { resources: string[] }>();
  for (const { need, verbs, by } of single.values()) {
    const names = [...(need.names ?? [])].sort();
    const sortedVerbs = [...verbs].sort();
    const reasons = [...by].map(([who, places]) => `${who}${placesText(places)}`).sort();
    const key = JSON.stringify([need.group, names, sortedVerbs, reasons]);
    const rule = rules.get(key);
    if (rule) rule.resources.push(need.resource);
    else {
      rules.set(key, {
        apiGroups: [need.group],
        resources: [need.resource],
        verbs: sortedVerbs,
        ...(names.length > 0 && { resourceNames: names }),
        by: reasons,
      });
    }
  }
  for (const rule of rules.values()) rule.resources.sort();
  const order = (rule: Rule) => JSON.stringify([rule.apiGroups, rule.resources, rule.resourceNames ?? [], rule.verbs]);
  return [...rules.values()].sort((a, b) => (order(a) < order(b) ? -1 : 1));
}

/** ` (operator.ts:12, 20, lib/pods.ts:3)` */
function placesText(places: ReadonlySet<string>): string {
  const lines = new Map<string, number[]>();
  for (const sourceLocation of places) {
    const [, file = sourceLocation, line = ""] = /^(.*):(\d+)$/.exec(sourceLocation) ?? [];
    lines.set(file, [...(lines.get(file) ?? []), Number(line)]);
  }
  const texts = [...lines]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([file, numbers]) => {
      return `${file}:${numbers.sort((a, b) => a - b).join(", ")}`;
    });
  return texts.length === 0 ? "" : ` (${texts.join(", ")})`;
}

/** Whether `rules` allow `verb` on a resource. For checks, and for what a recording adds. */
export function allows(rules: readonly Rule[], group: string, resource: string, verb: string, name?: string): boolean {
  return rules.some(
    (rule) =>
      rule.apiGroups.includes(group) &&
      rule.resources.includes(resource) &&
      rule.verbs.includes(verb) &&
      (rule.resourceNames === undefined || (name !== undefined && rule.resourceNames.includes(name))),
  );
}

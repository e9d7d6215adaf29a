import { deepEqual } from "@lotse/client/meta";
import type { ApiObject } from "../../../registry/index.ts";
import { matcher } from "../claim.ts";
import { canonical, safeHash } from "../hash.ts";
import {
  type ControllerRevision,
  controllerOf,
  controllerReference,
  type PodTemplate,
  REVISIONS,
  type Table,
} from "../tables.ts";
import { isStatus, keyOf, type WorkloadApi } from "../workload-api.ts";

const LONGEST_PREFIX = 223;

/** A kind that keeps its past templates as ControllerRevisions. */
type Versioned = ApiObject & {
  spec: { template: PodTemplate; selector: Parameters<typeof matcher>[0]; revisionHistoryLimit?: number };
  status?: { collisionCount?: number };
};

/** The history of one object, oldest first, and which entry its present template is. */
export interface History {
  readonly all: readonly ControllerRevision[];
  readonly present: ControllerRevision;
  readonly collisionCount: number;
}

/** With sorted keys: clients find the revision of a template by comparing it byte for byte. */
const dataOf = (template: PodTemplate): unknown =>
  JSON.parse(canonical({ spec: { template: { ...template, $patch: "replace" } } }));

/** The template that a revision has kept. */
export function templateOf(revision: ControllerRevision): PodTemplate {
  const data = revision.data as { spec?: { template?: PodTemplate & { $patch?: string } } } | undefined;
  const { $patch: _, ...template } = data?.spec?.template ?? {};
  return template;
}

/** The entry with a template, if the history has one; the newest, should there be several. */
export function findRevision(
  all: readonly ControllerRevision[],
  template: PodTemplate,
): ControllerRevision | undefined {
  return all.findLast((revision) => deepEqual(templateOf(revision), template));
}

/** Entries that nothing uses beyond the limit, oldest first. */
export function outlivedRevisions(
  all: readonly ControllerRevision[],
  inUse: ReadonlySet<string>,
  limit: number,
): ControllerRevision[] {
  const idle = all.filter(({ metadata }) => !inUse.has(metadata.name));
  return limit < 0 ? [] : idle.slice(0, Math.max(0, idle.length - limit));
}

/** Reads the history of an object and sees to it that its present template is the last entry. */
export async function keepHistory<O extends Versioned>(
  api: WorkloadApi,
  table: Table<O>,
  owner: O,
  hashLabel: string,
): Promise<History> {
  const all = await api.claim(table, owner, REVISIONS, matcher(owner.spec.selector));
  all.sort((a, b) => a.revision - b.revision || (a.metadata.name < b.metadata.name ? -1 : 1));
  const collisionCount = owner.status?.collisionCount ?? 0;
  const last = all.at(-1);
  const next = (last?.revision ?? 0) + 1;
  const known = findRevision(all, owner.spec.template);
  if (known === undefined) {
    const made = await create(api, revisionOf(table, owner, next, hashLabel), owner, collisionCount);
    return { all: [...all, made.revision], present: made.revision, collisionCount: made.collisionCount };
  }
  if (known === last) return { all, present: known, collisionCount };
  // Back to an earlier template: its entry moves to the end.
  const moved = await api.change(REVISIONS, known, (current) => ({ ...current, revision: next }));
  const present = moved ?? known;
  return { all: [...all.filter((one) => one !== known), present], present, collisionCount };
}

function revisionOf<O extends Versioned>(
  table: Table<O>,
  owner: O,
  revision: number,
  hashLabel: string,
): (probe: number) => ControllerRevision {
  const data = dataOf(owner.spec.template);
  return (probe) => {
    const hash = safeHash(data, probe);
    const made = {
      apiVersion: REVISIONS.apiVersion,
      kind: REVISIONS.kind,
      metadata: {
        name: `${owner.metadata.name.slice(0, LONGEST_PREFIX)}-${hash}`,
        namespace: owner.metadata.namespace,
        labels: { ...owner.spec.template.metadata?.labels, [hashLabel]: hash },
        ...(owner.metadata.annotations ? { annotations: owner.metadata.annotations } : {}),
        ownerReferences: [controllerReference(table, owner)],
      },
      data,
      revision,
    };
    return made as unknown as ControllerRevision;
  };
}

/** A name that another template has taken is counted, so that the next one differs. */
async function create(
  api: WorkloadApi,
  make: (probe: number) => ControllerRevision,
  owner: ApiObject,
  probe: number,
): Promise<{ readonly revision: ControllerRevision; readonly collisionCount: number }> {
  for (let collisionCount = probe; ; collisionCount++) {
    const draft = make(collisionCount);
    try {
      return { revision: await api.create(REVISIONS, draft), collisionCount };
    } catch (error) {
      if (!isStatus(error, 409)) throw error;
      const found = api.read(REVISIONS, keyOf(draft));
      const ours = found && controllerOf(found)?.uid === owner.metadata.uid;
      if (found && ours && deepEqual(found.data, draft.data)) return { revision: found, collisionCount };
    }
  }
}

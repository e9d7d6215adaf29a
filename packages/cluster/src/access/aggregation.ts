import { deepEqual, type LabelSelector, matchesLabels } from "@lotse/client/meta";
import { type Controller, type ControllerContext, WorkQueue } from "../controllers/index.ts";
import { type ApiObject, fromStore, listAt, objectAt, patch, readSelector, StatusError } from "../registry/index.ts";
import { RBAC_GROUP } from "./rbac.ts";
import { type PolicyRule, rulesOf } from "./rules.ts";

const TABLE = `clusterroles.${RBAC_GROUP}`;
/** The name under which collected rules are written. */
export const AGGREGATOR = "clusterrole-aggregation-controller";
const WRITE = {
  dryRun: false,
  fieldManager: AGGREGATOR,
  fieldValidation: "Ignore",
  force: true,
} as const;

/** Keeps in ClusterRoles with an aggregation rule the rules of all those that their selectors find. */
export class ClusterRoleAggregation implements Controller {
  readonly #context: ControllerContext;
  readonly #queue: WorkQueue;
  #stop: () => void = () => {};

  constructor(context: ControllerContext) {
    this.#context = context;
    this.#queue = new WorkQueue(context.backend, "the controller of aggregated roles", (name) => this.#work(name));
  }

  get idle(): boolean {
    return this.#queue.idle;
  }

  start(): void {
    const { store } = this.#context.backend;
    // Which role is part of which is not known without looking at all selectors, and there are few that have any.
    const enqueue = () => {
      for (const entry of store.list(TABLE)) if (isAggregated(fromStore(entry.object))) this.#queue.add(entry.key);
    };
    enqueue();
    this.#stop = store.watch(TABLE, store.revision, enqueue);
  }

  stop(): void {
    this.#stop();
    this.#queue.stop();
  }

  async #work(name: string): Promise<void> {
    const { backend, requester } = this.#context;
    const entry = backend.store.get(TABLE, name);
    const endpoint = backend.catalog.storage(RBAC_GROUP, "clusterroles");
    if (!entry || !endpoint) return;
    const role = fromStore(entry.object);
    if (!isAggregated(role)) return;
    const rules = aggregatedRules(
      role,
      backend.store.list(TABLE).map((other) => fromStore(other.object)),
    );
    if (deepEqual(rules, rulesOf(role))) return;
    const value = { apiVersion: `${RBAC_GROUP}/v1`, kind: "ClusterRole", metadata: { name }, rules };
    const target = { endpoint, namespace: undefined, name, subresource: undefined };
    const body = { value, duplicateFields: [], typed: true, text: "" };
    try {
      await patch(backend, requester, target, "apply", body, WRITE);
    } catch (error) {
      if (!(error instanceof StatusError && error.code === 404)) throw error;
    }
  }
}

const isAggregated = (role: ApiObject): boolean => role.aggregationRule !== undefined && role.aggregationRule !== null;

const selectsOther = (selector: LabelSelector | undefined, { metadata }: ApiObject): boolean =>
  selector !== undefined && matchesLabels(selector, metadata.labels);

/** The rules of all roles that a selector finds, in the order of selectors and names, each once. */
export function aggregatedRules(role: ApiObject, all: readonly ApiObject[]): PolicyRule[] {
  const rules: PolicyRule[] = [];
  for (const selector of listAt(objectAt(role, "aggregationRule"), "clusterRoleSelectors")) {
    const parsed = readSelector(selector);
    for (const other of all) {
      if (other.metadata.name === role.metadata.name || !selectsOther(parsed, other)) continue;
      for (const rule of rulesOf(other)) if (!rules.some((known) => deepEqual(known, rule))) rules.push(rule);
    }
  }
  return rules;
}

import {
  type ApiObject,
  create,
  fromStore,
  listAt,
  objectAt,
  patch,
  StatusError,
  timestamp,
} from "../registry/index.ts";
import { type Controller, type ControllerContext, WorkQueue } from "./controller.ts";

const GROUP = "flowcontrol.apiserver.k8s.io";
const LEVELS = `prioritylevelconfigurations.${GROUP}`;
const SCHEMAS = `flowschemas.${GROUP}`;
const PRODUCE = {
  dryRun: false,
  fieldManager: "api-priority-and-fairness-config-producer-v1",
  fieldValidation: "Ignore",
} as const;
const CONSUME = { ...PRODUCE, fieldManager: "api-priority-and-fairness-config-consumer-v1", force: true } as const;

/**
 * Keeps the kinds of fairness as a real server does: those that come with every server are written when a client first
 * looks, and each schema says whether the level that it names is there. Requests are not queued by them.
 */
export class FlowControlController implements Controller {
  readonly #context: ControllerContext;
  readonly #queue: WorkQueue;
  #stopWatching: (() => void)[] = [];
  #written: Promise<void> | undefined;

  constructor(context: ControllerContext) {
    this.#context = context;
    this.#queue = new WorkQueue(context.backend, "the controller of flow control", (name) => this.#judge(name));
  }

  get idle(): boolean {
    return this.#queue.idle;
  }

  start(): void {
    const { store, provisions } = this.#context.backend;
    for (const table of [LEVELS, SCHEMAS]) provisions?.set(table, () => this.#provide());
    this.#stopWatching = [
      store.watch(SCHEMAS, store.revision, ({ key, type }) => {
        if (type !== "deleted") this.#queue.add(key);
      }),
      store.watch(LEVELS, store.revision, ({ key, type }) => {
        if (type === "updated") return;
        for (const entry of store.list(SCHEMAS)) {
          if (levelOf(fromStore(entry.object)) === key) this.#queue.add(entry.key);
        }
      }),
    ];
  }

  stop(): void {
    for (const stop of this.#stopWatching) stop();
    this.#queue.stop();
  }

  /** Writes what every server begins with; both kinds at once, because schemas name levels. */
  #provide(): Promise<void> {
    this.#written ??= this.#writeAll();
    return this.#written;
  }

  async #writeAll(): Promise<void> {
    const table = await import("./flow-control-table.ts");
    const kinds = [
      ["PriorityLevelConfiguration", "prioritylevelconfigurations", table.LEVELS],
      ["FlowSchema", "flowschemas", table.SCHEMAS],
    ] as const;
    for (const [kind, plural, specs] of kinds) {
      for (const [name, spec] of Object.entries(specs)) await this.#write(kind, plural, name, spec);
    }
    // The client that waits for them sees them judged.
    for (const name of Object.keys(table.SCHEMAS)) await this.#judge(name);
  }

  async #write(kind: string, plural: string, name: string, spec: Readonly<Record<string, unknown>>): Promise<void> {
    const { backend, requester } = this.#context;
    const endpoint = backend.catalog.storage(GROUP, plural);
    if (!endpoint) return;
    const target = { endpoint, namespace: undefined, name: undefined, subresource: undefined };
    const object = {
      apiVersion: `${GROUP}/v1`,
      kind,
      metadata: { name, annotations: { "apf.kubernetes.io/autoupdate-spec": "true" } },
      spec: structuredClone(spec),
    };
    try {
      await create(backend, requester, target, object as unknown as ApiObject, PRODUCE);
    } catch (error) {
      // A server that was there before has them already.
      if (!(error instanceof StatusError && error.reason === "AlreadyExists")) throw error;
    }
  }

  /** Says of a schema whether its level is there. */
  async #judge(name: string): Promise<void> {
    const { backend, requester } = this.#context;
    const entry = backend.store.get(SCHEMAS, name);
    const endpoint = backend.catalog.storage(GROUP, "flowschemas");
    if (!entry || !endpoint) return;
    const schema = fromStore(entry.object);
    const level = levelOf(schema);
    const wanted = danglingOf(level, backend.store.get(LEVELS, level) !== undefined);
    const conditions = listAt(schema, "status", "conditions");
    const present = conditions.find(({ type }) => type === "Dangling");
    if (present?.status === wanted.status && present.message === wanted.message) return;
    const target = { endpoint, namespace: undefined, name, subresource: "status" };
    const value = {
      apiVersion: `${GROUP}/v1`,
      kind: "FlowSchema",
      metadata: { name },
      status: { conditions: [{ ...wanted, lastTransitionTime: timestamp(backend.clock.now()) }] },
    };
    await patch(backend, requester, target, "apply", { value, duplicateFields: [], typed: false, text: "" }, CONSUME);
  }
}

function levelOf(schema: ApiObject): string {
  return String(objectAt(schema, "spec", "priorityLevelConfiguration").name ?? "");
}

function danglingOf(level: string, there: boolean) {
  const sentence = `This FlowSchema references the PriorityLevelConfiguration object named ${JSON.stringify(level)}`;
  return there
    ? { type: "Dangling", status: "False", reason: "Found", message: `${sentence} and it exists` }
    : { type: "Dangling", status: "True", reason: "NotFound", message: `${sentence} but there is no such object` };
}

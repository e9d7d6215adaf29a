import { type Controller, type ControllerContext, WorkQueue } from "../controllers/index.ts";
import { type ApiObject, fromStore, objectAt, remove, StatusError, storeKey, update } from "../registry/index.ts";
import type { ServiceAccountTokens } from "./tokens.ts";

const TYPE = "kubernetes.io/service-account-token";
const NAME = "kubernetes.io/service-account.name";
const UID = "kubernetes.io/service-account.uid";
const WRITE = { dryRun: false, fieldManager: "kube-controller-manager", fieldValidation: "Ignore" } as const;

/** Puts tokens that never expire into the Secrets that ask for one, and removes those whose account is gone. */
export class AccountSecrets implements Controller {
  readonly #context: ControllerContext;
  readonly #tokens: ServiceAccountTokens;
  readonly #caPem: string;
  readonly #queue: WorkQueue;
  #stop: (() => void)[] = [];

  constructor(context: ControllerContext, tokens: ServiceAccountTokens, caPem: string) {
    this.#context = context;
    this.#tokens = tokens;
    this.#caPem = caPem;
    this.#queue = new WorkQueue(context.backend, "the controller of service account tokens", (key) => this.#work(key));
  }

  get idle(): boolean {
    return this.#queue.idle;
  }

  start(): void {
    const { store } = this.#context.backend;
    const enqueue = (entry: { key: string; object: unknown }) => {
      if ((entry.object as ApiObject).type === TYPE) this.#queue.add(entry.key);
    };
    for (const entry of store.list("secrets")) enqueue(entry);
    this.#stop = [
      store.watch("secrets", store.revision, (change) => {
        if (change.type !== "deleted") enqueue(change);
      }),
      store.watch("serviceaccounts", store.revision, (change) => {
        const { namespace } = fromStore(change.object).metadata;
        if (change.type === "deleted") for (const entry of store.list("secrets", `${namespace}/`)) enqueue(entry);
      }),
    ];
  }

  stop(): void {
    for (const stop of this.#stop) stop();
    this.#queue.stop();
  }

  async #work(key: string): Promise<void> {
    const { store, catalog } = this.#context.backend;
    const entry = store.get("secrets", key);
    const endpoint = catalog.storage("", "secrets");
    if (!entry || !endpoint) return;
    const secret = fromStore(entry.object);
    const { namespace = "", name, annotations = {} } = secret.metadata;
    const found = store.get("serviceaccounts", storeKey(namespace, annotations[NAME] ?? ""));
    const account = found && fromStore(found.object);
    const { uid } = account?.metadata ?? {};
    const target = { endpoint, namespace, name, subresource: undefined };
    const isOther = annotations[UID] !== undefined && annotations[UID] !== uid;
    try {
      if (!account || uid === undefined || isOther) {
        await remove(this.#context.backend, this.#context.requester, target, { dryRun: false });
      } else if (!isFilled(secret)) await this.#fill(target, account);
    } catch (error) {
      if (!(error instanceof StatusError && error.code === 404)) throw error;
    }
  }

  async #fill(target: Parameters<typeof update>[2], account: ApiObject): Promise<void> {
    const { backend, requester } = this.#context;
    const { name, uid, namespace = "" } = account.metadata;
    const token = this.#tokens.issueLasting(namespace, String(target.name), { name, uid });
    const files = { "ca.crt": this.#caPem, namespace, token };
    const added = Object.entries(files).map(([key, text]) => [key, Buffer.from(text).toString("base64")]);
    await update(backend, requester, target, WRITE, {
      by: "patch",
      tracked: false,
      next: (current) => {
        const secret = structuredClone(current);
        secret.metadata.annotations = { ...secret.metadata.annotations, [UID]: uid };
        secret.data = { ...objectAt(secret, "data"), ...Object.fromEntries(added) };
        return secret;
      },
    });
  }
}

function isFilled(secret: ApiObject): boolean {
  return secret.metadata.annotations?.[UID] !== undefined && Boolean(objectAt(secret, "data").token);
}

import { deepClone } from "@lotse/client/meta";
import type { ControllerContext } from "../controllers/index.ts";
import {
  type ApiObject,
  create,
  type DeleteOptions,
  remove,
  StatusError,
  type Target,
  update,
  type WriteOptions,
} from "../registry/index.ts";

/** Which object. */
export interface Which {
  /** `pods`, `leases.coordination.k8s.io` */
  readonly table: string;
  readonly namespace: string | undefined;
  readonly name: string;
  readonly subresource?: string;
}

const write = (fieldManager: string): WriteOptions => ({ dryRun: false, fieldManager, fieldValidation: "Ignore" });

/** How those who look after pods write to the API. What is gone meanwhile, or there already, is no mistake. */
export class ComponentApi {
  readonly #context: ControllerContext;
  readonly #manager: string;
  #closed = false;

  constructor(context: ControllerContext, manager: string) {
    this.#context = context;
    this.#manager = manager;
  }

  /** Nothing is written from now on. */
  close(): void {
    this.#closed = true;
  }

  async create(table: string, namespace: string | undefined, object: Record<string, unknown>): Promise<void> {
    const { backend, requester } = this.#context;
    const target = this.#target(table, namespace, undefined, undefined);
    if (!target || !(await this.#turn())) return;
    await ignoring([409], create(backend, requester, target, object as unknown as ApiObject, write(this.#manager)));
  }

  /** Writes what `next` makes of the object; the object itself means that there is nothing to write. */
  async change({ table, namespace, name, subresource }: Which, next: (object: ApiObject) => ApiObject): Promise<void> {
    const { backend, requester } = this.#context;
    const target = this.#target(table, namespace, name, subresource);
    if (!target || !(await this.#turn())) return;
    const change = { by: "patch", tracked: false, next: (current: ApiObject) => deepClone(next(current)) } as const;
    await ignoring([404], update(backend, requester, target, write(this.#manager), change));
  }

  async remove({ table, namespace, name }: Which, options: Omit<DeleteOptions, "dryRun">): Promise<void> {
    const { backend, requester } = this.#context;
    const target = this.#target(table, namespace, name, undefined);
    if (!target || !(await this.#turn())) return;
    await ignoring([404, 409], remove(backend, requester, target, { ...options, dryRun: false }));
  }

  /** Waits until others had their turn; false when there will be none. */
  async #turn(): Promise<boolean> {
    if (this.#closed) return false;
    const rest = this.#context.backend.pace.rest();
    if (rest) await rest;
    return !this.#closed;
  }

  #target(table: string, namespace: string | undefined, name: string | undefined, subresource: string | undefined) {
    const [plural = "", ...group] = table.split(".");
    const endpoint = this.#context.backend.catalog.storage(group.join("."), plural);
    return endpoint && ({ endpoint, namespace, name, subresource } satisfies Target);
  }
}

async function ignoring(codes: readonly number[], work: Promise<unknown>): Promise<void> {
  try {
    await work;
  } catch (error) {
    if (!(error instanceof StatusError && codes.includes(error.code))) throw error;
  }
}

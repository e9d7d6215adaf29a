/** The version that works, beside the shadow: what it has written, by what the API server records of every field. Pure. */
import type { KubeBody, ManagedFieldsEntry } from "@lotse/client";
import { type Fields, fieldsOfEntries, has } from "./fields.ts";

const OWNERS = ["f:metadata", "f:ownerReferences"];

/** See the module comment. */
export class Worker {
  readonly #managers: ReadonlySet<string>;

  /** Under these names the API server knows it. */
  constructor(managers: Iterable<string>) {
    this.#managers = new Set(managers);
  }

  get names(): readonly string[] {
    return [...this.#managers];
  }

  /** The fields of an object that it has set last. */
  fieldsOf(body: KubeBody | undefined): Fields | undefined {
    return fieldsOfEntries(body, (entry) => this.#isIts(entry));
  }

  /** What it has applied to an object, by another manager's entries than those of plain updates. */
  isIts(entry: ManagedFieldsEntry): boolean {
    return this.#isIts(entry);
  }

  /** Whether it has written anything of an object. */
  touched(body: KubeBody): boolean {
    return body.metadata?.managedFields?.some((entry) => this.#isIts(entry)) === true;
  }

  /**
   * Whether it has made an object: no other manager has set anything but the status, or it has put the object under its
   * owner. Who has only changed an object finds there what its maker has set.
   */
  made(body: KubeBody): boolean {
    const main = (body.metadata?.managedFields ?? []).filter(({ subresource }) => !subresource);
    const own = main.filter((entry) => this.#isIts(entry));
    if (own.length === 0) return false;
    return own.length === main.length || own.some(({ fieldsV1 }) => has(fieldsV1 as Fields | undefined, OWNERS));
  }

  #isIts({ manager }: ManagedFieldsEntry): boolean {
    return manager !== undefined && this.#managers.has(manager);
  }
}

/**
 * An operator that was renamed does not know its own records any more: it would create everything once more, and objects
 * with the old finalizer would never go. So at its start it says whose marks it has found that are not its own.
 */
import { type Client, Deployment, type KindClass, type KubeBody, type KubeObject, Lease } from "@lotse/client";
import type { Logger } from "../report/index.ts";
import { isDeleting, operatorsOn } from "../turn/index.ts";

/** What was found of one other operator. */
interface Stranger {
  objects: number;
  deleting: number;
  example: string;
}

/** See the module comment. Looks at the objects of one kind that are there at the start. */
export class Strangers {
  readonly #own: ReadonlySet<string>;
  readonly #found = new Map<string, Stranger>();

  /** `own`: the names that this operator has, or has had. */
  constructor(own: Iterable<string>) {
    this.#own = new Set(own);
  }

  /** Looks at one object. */
  note(body: KubeBody): void {
    for (const name of operatorsOn(body)) {
      if (this.#own.has(name)) continue;
      const { namespace, name: object } = body.metadata ?? {};
      const known = this.#found.get(name);
      const stranger = known ?? { objects: 0, deleting: 0, example: `${namespace ? `${namespace}/` : ""}${object}` };
      stranger.objects++;
      if (isDeleting(body)) stranger.deleting++;
      this.#found.set(name, stranger);
    }
  }

  /** Tells what was found, unless an operator of that name is at work. Never rejects. */
  async tell(client: Client, logger: Logger): Promise<void> {
    for (const [operator, { objects, deleting, example }] of this.#found) {
      if (await isAtWork(client, operator)) continue;
      logger.warn("objects carry the marks of an operator that nobody seems to run", {
        marks: operator,
        objects,
        example,
        ...(deleting > 0 && { waitingForIt: deleting }),
        hint: `if this operator was called so before, add formerNames: ["${operator}"] and it takes over; if that one is gone, lotse uninstall takes its marks off`,
      });
    }
    this.#found.clear();
  }
}

/** Whether a Lease or a Deployment of that name is there; who may not look does not know. */
async function isAtWork(client: Client, operator: string): Promise<boolean> {
  const kinds: readonly KindClass<KubeObject>[] = [Lease, Deployment];
  for (const kind of kinds) {
    try {
      const fieldSelector = `metadata.name=${operator}`;
      for await (const _one of client.list(kind, { namespace: "*", fieldSelector })) return true;
    } catch {
      // Not allowed, or not served: nothing is known about it, which is what is told.
    }
  }
  return false;
}

/**
 * What decides whose an object is: its key, and by that its slice. Pure, and from metadata alone, which every member has.
 *
 * With `by: "uid"` an object follows its controller where that is of a kind that has a reconciler (`operator.reconcile`,
 * `operator.children`): its key is the owner's uid, so that a parent and its children are worked on by the same member. An
 * object whose own kind has a reconciler follows nobody, because others follow it.
 */
import type { KubeBody } from "@lotse/client";
import { errorMessage, fnv1a64 } from "@lotse/client/meta";
import type { ShardedObject, ShardKey } from "../../declare/index.ts";
import { sliceOfText, sliceOfUid } from "./rendezvous.ts";

/** A kind, whatever its version. */
export interface GroupKind {
  readonly group: string;
  readonly kind: string;
}

/** How keys are found. */
export interface KeyOptions {
  readonly by: ShardKey;
  /** Kinds that have a reconciler. */
  readonly parents: readonly GroupKind[];
  /** The function that chooses shards failed: told once for each kind. */
  readonly onProblem: (kind: string, problem: string) => void;
}

/** Changes whenever the same object would get another slice than before: members of both sorts cannot share. */
const VERSION = "1";

/** See the module comment. */
export class ShardKeys {
  /** How keys are found, in a few letters: members that write another rule cannot share with this one. */
  readonly rule: string;
  readonly #o: KeyOptions;
  readonly #parents: ReadonlySet<string>;
  readonly #complained = new Set<string>();

  constructor(o: KeyOptions) {
    this.#o = o;
    this.#parents = new Set(o.parents.map(nameOf));
    this.rule = ruleOf(o);
  }

  /** The slice of an object. */
  sliceOf(body: KubeBody, kind: GroupKind): number {
    const { by } = this.#o;
    const { uid = "", namespace = "", name = "" } = body.metadata ?? {};
    if (by === "uid") return sliceOfUid(this.#ownerOf(body, kind) ?? uid);
    if (by === "namespace") {
      // A namespace is worked on where its content is; other objects without one are spread.
      const home = kind.group === "" && kind.kind === "Namespace" ? name : namespace;
      return home === "" ? sliceOfUid(uid) : sliceOfText(home);
    }
    const key = this.#ask(by, body, kind);
    return key === undefined ? sliceOfUid(uid) : sliceOfText(key);
  }

  /** The slice of what is done for the operator as a whole, by its id. */
  sliceOfTask(id: string): number {
    return sliceOfText(`task ${id}`);
  }

  /** Whether an object of the kind is found by its own uid, always: then a server can be asked for the slices alone. */
  isByOwnUid(kind: GroupKind): boolean {
    return this.#o.by === "uid" && (this.#parents.size === 0 || this.#parents.has(nameOf(kind)));
  }

  #ownerOf(body: KubeBody, kind: GroupKind): string | undefined {
    if (this.#parents.size === 0 || this.#parents.has(nameOf(kind))) return undefined;
    const owner = body.metadata?.ownerReferences?.find(({ controller }) => controller === true);
    if (!owner) return undefined;
    const group = owner.apiVersion.includes("/") ? (owner.apiVersion.split("/")[0] as string) : "";
    return this.#parents.has(nameOf({ group, kind: owner.kind })) ? owner.uid : undefined;
  }

  #ask(by: (object: ShardedObject) => string, body: KubeBody, { kind }: GroupKind): string | undefined {
    const { uid = "", name = "", namespace, labels = {}, annotations = {} } = body.metadata ?? {};
    try {
      const key: unknown = by({ kind, name, namespace, uid, labels, annotations });
      if (typeof key === "string") return key;
      this.#complain(kind, `it returned ${key === null ? "null" : typeof key}, and no text`);
    } catch (error) {
      this.#complain(kind, errorMessage(error));
    }
    return undefined;
  }

  #complain(kind: string, problem: string): void {
    if (this.#complained.has(kind)) return;
    this.#complained.add(kind);
    this.#o.onProblem(kind, problem);
  }
}

function nameOf({ group, kind }: GroupKind): string {
  return `${kind}.${group}`;
}

function ruleOf({ by, parents }: KeyOptions): string {
  if (by === "namespace") return `namespace/${VERSION}`;
  if (by !== "uid") return `function/${VERSION}/${digest(String(by))}`;
  if (parents.length === 0) return `uid/${VERSION}`;
  return `uid/${VERSION}/${digest([...new Set(parents.map(nameOf))].sort().join())}`;
}

function digest(text: string): string {
  const { high, low } = fnv1a64(text);
  return [high, low].map((half) => half.toString(16).padStart(8, "0")).join("");
}

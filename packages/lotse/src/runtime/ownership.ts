/** Which objects this process works on, and whether its writes may leave: what the engine sees of coordination. */
import type { KindDescription, KubeBody } from "@lotse/client";
import type { ShardSelector } from "@lotse/client/meta";

/** See the module comment. A room above decides; see `coordination/`. */
export interface Ownership {
  /** No other process can work on the same objects: then nothing has to be asked. */
  readonly alone: boolean;
  /** Whether this process works on the object now. Changes are told by `Coordinator.run`. */
  owns(body: KubeBody, kind: KindDescription): boolean;
  /** Whether this process does what is declared for the operator itself (`schedule`, `source`), by its id. */
  ownsTask(id: string): boolean;
  /**
   * Whether the object is worth its memory: it is this process's, or about to become so. Absent: all are, because this
   * process may have to go on with any of them at once. Changes are told by `Coordinator.run`.
   */
  keeps?(body: KubeBody, kind: KindDescription): boolean;
  /** All objects of a kind for which {@link keeps} says yes, as a server can be asked for them; undefined: it cannot. */
  shardOf?(kind: KindDescription): ShardSelector | undefined;
  /**
   * Throws a `FencedError` unless a write may leave the process at this moment: for the object that it is made for, or for
   * the operator as a whole. Takes no time: it is asked right before the bytes go.
   */
  pass(body?: KubeBody, kind?: KindDescription): void;
}

/** This process is the only one. */
export const ALONE: Ownership = {
  alone: true,
  owns: () => true,
  ownsTask: () => true,
  pass: () => undefined,
};

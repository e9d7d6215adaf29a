/**
 * One life of an operator, from its start to its end. Whatever the operator does, it does in the asynchronous context of
 * its life; so a function that it calls can find out for whom it works, and whether that one still lives.
 */
import { AsyncLocalStorage } from "node:async_hooks";
import type { Actor } from "lotse";

/** A call to the world outside of the cluster; see `external`. */
export interface ExternalCall {
  /** The function's name. */
  readonly name: string;
  readonly args: readonly unknown[];
  /** The life of the operator that made it, counted from 1. */
  readonly life: number;
  /** The handler that made it, and its object; undefined outside of handlers. */
  readonly actor: Actor | undefined;
  readonly once: boolean;
  readonly idempotent: boolean;
  /** What it came to, once it has. */
  answer: { readonly value: unknown } | { readonly error: unknown } | undefined;
}

/** See the module comment. */
export class Life {
  /** Counted from 1. */
  readonly number: number;
  readonly #onExternal: (call: ExternalCall) => void;
  #over = false;

  constructor(number: number, onExternal: (call: ExternalCall) => void) {
    this.number = number;
    this.#onExternal = onExternal;
  }

  get isOver(): boolean {
    return this.#over;
  }

  end(): void {
    this.#over = true;
  }

  called(call: ExternalCall): void {
    this.#onExternal(call);
  }
}

/** The life that the running code belongs to; none in code of a test. */
export const currentLife = new AsyncLocalStorage<Life>();

/** The handler on whose behalf the running code does what it does. */
export const currentActor = new AsyncLocalStorage<Actor>();

/** Calls to the world outside of the cluster, which no watch shows: counted while a test looks, and passed on always. */
import { currentActor, currentLife, type ExternalCall, type Life } from "./life.ts";

/** What is known about a call to the world outside. */
export interface ExternalOptions {
  /** How the call is named in reports; the function's name unless told. */
  readonly name?: string;
  /** It must never be made twice with the same arguments, whatever happens: `explore` reports every repetition. */
  readonly once?: boolean;
  /** The world outside takes a repetition for the same call: `explore` never reports one. */
  readonly idempotent?: boolean;
}

/**
 * Wraps a call to the world outside of the cluster, so that tests can count it: a bucket that is made, a mail that is
 * sent, a card that is charged. The result is a function of the same type. Where no harness watches, the call is passed on
 * as it is; in the life of an operator that a test has killed it never returns.
 *
 * `explore` compares the calls of each disturbed run with those of an undisturbed one. The last call about each thing (the
 * first argument, or its `name`, `id` or `key`) has to be the same. An operator that was killed may repeat a call which it
 * had no chance to write down before; a call that it could have written down and repeats is reported, and so is one whose
 * repetition answers with another string or number, as a second bucket would. Reconcilers, timers and delete handlers may
 * repeat what they like. `idempotent` and `once` change that.
 *
 * @example
 * ```ts
 * const createBucket = external(
 *   async function createBucket(name: string) {
 *     await fetch(`https://buckets.example.com/${name}`, { method: "PUT" });
 *   },
 *   { idempotent: true },
 * );
 * ```
 */
export function external<Args extends readonly unknown[], Result>(
  fn: (...args: Args) => Result,
  options: ExternalOptions = {},
): (...args: Args) => Result {
  const name = options.name ?? (fn.name || "external call");
  return (...args) => {
    const life = currentLife.getStore();
    if (!life) return fn(...args);
    // A dead process waits for ever. Whoever calls a function that answers at once gets a promise that never does.
    if (life.isOver) return new Promise<never>(() => {}) as Result;
    const { once = false, idempotent = false } = options;
    const actor = currentActor.getStore();
    const call: ExternalCall = {
      name,
      args: copyOf(args),
      life: life.number,
      actor,
      once,
      idempotent,
      answer: undefined,
    };
    life.called(call);
    const result = fn(...args);
    if (!(result instanceof Promise)) {
      call.answer = { value: result };
      return result;
    }
    return whileAlive(life, call, result) as Result;
  };
}

/** What was asked for, whatever becomes of the arguments later. */
function copyOf(args: readonly unknown[]): readonly unknown[] {
  try {
    return JSON.parse(JSON.stringify(args)) as unknown[];
  } catch {
    // Some arguments are no data, such as a socket.
    return args.map(String);
  }
}

function whileAlive<T>(life: Life, call: ExternalCall, work: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    work.then(
      (value) => {
        call.answer = { value };
        if (!life.isOver) resolve(value);
      },
      (error: unknown) => {
        call.answer = { error };
        if (!life.isOver) reject(error);
      },
    );
  });
}

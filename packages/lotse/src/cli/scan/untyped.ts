/**
 * Calls of which the compiler knows nothing, because their receiver has no type. What that is may be known all the same,
 * from where it comes.
 */
import * as client from "@lotse/client";
import { ruleFor } from "./calls.ts";
import type { KindContext, KindReader } from "./kinds.ts";
import type { MemberName, Reading } from "./reading.ts";
import type { Sorts } from "./sorts.ts";
import type { Syntax } from "./syntax.ts";

/** Reads of a context, by the sort of what is called. */
const CACHED: Readonly<Record<string, MemberName>> = {
  get: { owner: "CachedGet", member: "()" },
  list: { owner: "CachedList", member: "()" },
  exists: { owner: "CachedReads", member: "exists" },
};

/** See the module comment. */
export class Untyped {
  readonly #reading: Reading;
  readonly #kinds: KindReader;
  readonly #sorts: Sorts;

  constructor(reading: Reading, kinds: KindReader, sorts: Sorts) {
    this.#reading = reading;
    this.#kinds = kinds;
    this.#sorts = sorts;
  }

  /** The method of Lotse that such a call calls, if it is one. */
  methodOf(call: Syntax, context: KindContext): MemberName | undefined {
    const callee = call.expression && this.#reading.bare(call.expression);
    if (!callee) return undefined;
    const read = CACHED[this.#sorts.of(callee, context.scope) ?? ""];
    if (read) return read;
    const member = callee.name?.text;
    if (!callee.expression || member === undefined) return undefined;
    const owner = this.#ownersOf(callee.expression, context).find((one) => ruleFor(one, member));
    return owner === undefined ? undefined : { owner, member };
  }

  /** Whether a call looks like one of a client whose origin the types do not tell. */
  isSuspicious(call: Syntax): boolean {
    const callee = call.expression && this.#reading.bare(call.expression);
    const receiver = callee?.expression && this.#reading.bare(callee.expression);
    const member = callee?.name?.text;
    const name = receiver?.name?.text ?? receiver?.text;
    if (!receiver || member === undefined || !/client$/i.test(name ?? "")) return false;
    const isAny = this.#reading.compiler.typesOf(receiver).some((type) => type.isAny);
    return isAny && (ruleFor("Client", member)?.asks.length ?? 0) > 0;
  }

  #ownersOf(receiver: Syntax, context: KindContext): readonly string[] {
    const sort = this.#sorts.of(receiver, context.scope);
    if (sort === "client") return ["Client", "ClientReads"];
    if (sort === "get") return ["CachedGet"];
    const kinds = this.#kinds.of(receiver, context) ?? [];
    return kinds.length === 0 ? [] : [...kinds.flatMap(({ kind }) => classesOf(kind)), "KubeObject"];
  }
}

/** The class of a built-in kind, and those that it extends. */
function classesOf(kind: string): string[] {
  const names: string[] = [];
  let at = (client as Readonly<Record<string, unknown>>)[kind] as { name?: string } | null | undefined;
  for (; typeof at === "function" && at.name; at = Object.getPrototypeOf(at)) names.push(at.name.replace(/^_/, ""));
  return names;
}

/**
 * What is a value, as far as a handler can ask the cluster with it? By its type; and where there is none (a parameter in
 * JavaScript, an `any`), by what was given or assigned.
 */
import type { Reading, Scope } from "./reading.ts";
import type { Syntax } from "./syntax.ts";

/** `object`: the handler's own; `get`, `list`, `exists`: reads of the operator's own copy of the cluster. */
export type Sort = "client" | "object" | "context" | "get" | "list" | "exists";

/** What a context has that asks the cluster. */
const MEMBERS: readonly Sort[] = ["client", "object", "get", "list", "exists"];

/** Deep enough for anything that people write, and an end to what goes in circles. */
const DEEPEST = 20;

/** See the module comment. */
export class Sorts {
  readonly #reading: Reading;

  constructor(reading: Reading) {
    this.#reading = reading;
  }

  of(node: Syntax, scope: Scope, depth = 0): Sort | undefined {
    if (depth > DEEPEST) return undefined;
    const { compiler } = this.#reading;
    const at = this.#reading.bare(node);
    const sort = this.#byType(at);
    if (sort) return sort;
    if (compiler.is(at, "PropertyAccessExpression") && at.expression) {
      return this.of(at.expression, scope, depth + 1) === "context" ? memberSort(at.name?.text) : undefined;
    }
    if (!compiler.is(at, "Identifier")) return undefined;
    const declared = this.#reading.ownDeclaration(at);
    return declared && this.#ofDeclared(declared, scope, depth + 1);
  }

  #byType(node: Syntax): Sort | undefined {
    for (const type of this.#reading.compiler.typesOf(node)) {
      const name = this.#reading.lotseName(type) ?? this.#reading.lotseAlias(type);
      if (name === "Client") return "client";
      if (name?.endsWith("Context")) return "context";
    }
    return undefined;
  }

  #ofDeclared(declared: Syntax, scope: Scope, depth: number): Sort | undefined {
    const { compiler } = this.#reading;
    const bound = scope.bound.get(this.#reading.keyOf(declared));
    if (bound) return this.of(bound.node, bound.scope, depth);
    if (compiler.is(declared, "BindingElement") && declared.parent) {
      return this.#ofPattern(declared.parent, scope, depth) === "context"
        ? memberSort((declared.propertyName ?? declared.name)?.text)
        : undefined;
    }
    const given = compiler.is(declared, "VariableDeclaration") ? declared.initializer : undefined;
    return given && this.of(given, scope, depth);
  }

  /** `{ client, name }`, of a parameter or a constant. */
  #ofPattern(pattern: Syntax, scope: Scope, depth: number): Sort | undefined {
    const sort = this.#byType(pattern);
    if (sort || !pattern.parent) return sort;
    return this.#ofDeclared(pattern.parent, scope, depth);
  }
}

function memberSort(name: string | undefined): Sort | undefined {
  return MEMBERS.find((one) => one === name);
}

/** Small questions about code that several parts of the scan ask. */
import { type Origin, Origins } from "./origin.ts";
import type { Compiler, Declaration, Syntax, TypeView } from "./syntax.ts";

/** What a name in a function means that was given to the function: an argument, in the scope of its caller. */
export interface Scope {
  readonly bound: ReadonlyMap<string, Bound>;
}

/** An expression, and where it is to be understood. */
export interface Bound {
  readonly node: Syntax;
  readonly scope: Scope;
}

/** Deep enough for anything that people write, and an end to what goes in circles. */
const DEEPEST = 20;

/** A scope in which nothing was given. */
export const EMPTY: Scope = { bound: new Map() };

/** A method or function, by the names that people know it by: `Client` and `get`. */
export interface MemberName {
  /** Empty for a function of its own. */
  readonly owner: string;
  /** `()` for something that is called itself. */
  readonly member: string;
}

/** See the module comment. */
export class Reading {
  readonly compiler: Compiler;
  readonly #origins = new Origins();

  constructor(compiler: Compiler) {
    this.compiler = compiler;
  }

  originOf(file: string): Origin {
    return this.#origins.of(file);
  }

  /** One text for one node. */
  keyOf(node: Syntax): string {
    return `${this.compiler.placeOf(node).file}:${node.pos}:${node.end}:${node.kind}`;
  }

  /** What an expression is behind parentheses, `await`, `as` and the like. */
  bare(node: Syntax): Syntax {
    const wrappers = [
      "ParenthesizedExpression",
      "AsExpression",
      "SatisfiesExpression",
      "NonNullExpression",
      "AwaitExpression",
    ] as const;
    let at = node;
    while (this.compiler.is(at, ...wrappers) && at.expression) at = at.expression;
    return at;
  }

  /** The text of an expression that is always the same one. */
  literal(node: Syntax | undefined): string | undefined {
    if (!node) return undefined;
    const at = this.bare(node);
    if (this.compiler.is(at, "StringLiteral", "NoSubstitutionTemplateLiteral")) return at.text;
    const types = this.compiler.typesOf(at);
    return types.length === 1 ? types[0]?.literal : undefined;
  }

  /** The value of a property of an object literal, also of one that is spread into it: `{ ...GROUP, kind: "Shop" }`. */
  property(object: Syntax, name: string, depth = 0): Syntax | undefined {
    // The last one wins, as it does when it runs.
    for (const one of [...(object.properties ?? [])].reverse()) {
      if (this.compiler.is(one, "SpreadAssignment") && one.expression && depth < DEEPEST) {
        const spread = this.objectLiteral(one.expression);
        const found = spread && this.property(spread, name, depth + 1);
        if (found) return found;
      } else if (one.name?.text === name) {
        return this.compiler.is(one, "ShorthandPropertyAssignment") ? one.name : one.initializer;
      }
    }
    return undefined;
  }

  /** The literal behind an expression: itself, or what a constant of that name was set to. */
  objectLiteral(node: Syntax): Syntax | undefined {
    const at = this.bare(node);
    if (this.compiler.is(at, "ObjectLiteralExpression")) return at;
    if (!this.compiler.is(at, "Identifier")) return undefined;
    const initializer = this.ownDeclaration(at)?.initializer;
    return initializer && this.compiler.is(this.bare(initializer), "ObjectLiteralExpression")
      ? this.bare(initializer)
      : undefined;
  }

  /** What a name means, where that is in the project's own code. */
  ownDeclaration(name: Syntax): Syntax | undefined {
    return this.compiler.declarationsOf(name).find((one) => this.isOwn(one))?.node;
  }

  isOwn(declaration: Declaration): boolean {
    return this.originOf(declaration.file) === "own";
  }

  isLotse(declaration: Declaration | undefined): boolean {
    return declaration !== undefined && this.originOf(declaration.file) === "lotse";
  }

  /** The name of a class or interface of Lotse; a bundler of declarations may have numbered it. */
  lotseName(type: TypeView): string | undefined {
    return this.isLotse(type.declaration) ? type.name?.replace(/\$\d+$/, "") : undefined;
  }

  /** The name of a type that was written by an alias of Lotse. */
  lotseAlias(type: TypeView): string | undefined {
    return this.isLotse(type.aliasDeclaration) ? type.alias?.replace(/\$\d+$/, "") : undefined;
  }

  /** What a declaration that can be called is called. */
  memberName(node: Syntax): MemberName {
    const { compiler } = this;
    const nameOf = (one: Syntax | undefined) => one?.name?.text?.replace(/\$\d+$/, "") ?? "";
    if (compiler.is(node, "CallSignature")) return { owner: nameOf(node.parent), member: "()" };
    if (compiler.is(node, "FunctionType")) {
      const { parent } = node;
      if (parent && compiler.is(parent, "PropertySignature", "PropertyDeclaration")) {
        return { owner: nameOf(parent.parent), member: nameOf(parent) };
      }
      return { owner: nameOf(parent), member: "()" };
    }
    if (compiler.is(node, "MethodDeclaration", "MethodSignature")) {
      return { owner: nameOf(node.parent), member: nameOf(node) };
    }
    if (compiler.is(node, "Constructor")) return { owner: nameOf(node.parent), member: "new" };
    return { owner: "", member: nameOf(node) };
  }

  isFunction(node: Syntax): boolean {
    return this.compiler.is(
      node,
      "FunctionDeclaration",
      "FunctionExpression",
      "ArrowFunction",
      "MethodDeclaration",
      "Constructor",
      "GetAccessor",
      "SetAccessor",
    );
  }

  isClass(node: Syntax): boolean {
    return this.compiler.is(node, "ClassDeclaration", "ClassExpression");
  }
}

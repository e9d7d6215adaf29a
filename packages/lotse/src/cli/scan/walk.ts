/**
 * Walks through what a handler does: its body, the functions of the project that it calls, and theirs. Each call of the
 * client becomes a need; where a call cannot be understood, that is noted: silence would be taken for "nothing".
 */
import type { Need } from "../../generate/index.ts";
import type { KindContext, KindFound, KindReader } from "./kinds.ts";
import { type Bound, EMPTY, type MemberName, type Reading, type Scope } from "./reading.ts";
import type { Asker, RequestReader } from "./requests.ts";
import type { Declaration, Syntax } from "./syntax.ts";
import type { Untyped } from "./untyped.ts";

/** Something that a handler does and that its code does not tell before it runs. */
export interface Gap {
  /** `operator.ts:12` */
  readonly sourceLocation: string;
  readonly what: string;
}

/** Whose code is walked through. */
export interface Walked {
  /** In whose name it is done: `handler publish`. */
  readonly by: string;
  readonly own: readonly KindFound[] | undefined;
  /** What it makes, it wants to have: children of its object. */
  readonly keepsChildren: boolean;
  /** It judges a request: its patch is a part of its answer, and no request of its own. */
  readonly judges: boolean;
}

/** What a child needs over its life: it is applied, looked at, followed, and deleted when it is not wanted any more. */
const CHILD_VERBS = ["create", "delete", "get", "list", "patch", "watch"];

/** What the walk uses. */
export interface WalkTools {
  readonly reading: Reading;
  readonly kinds: KindReader;
  readonly requests: RequestReader;
  readonly untyped: Untyped;
  /** Where something is, for people. */
  readonly placeOf: (node: Syntax) => string;
  /** Functions of the project by their name, for calls through an interface. */
  readonly implementations: (name: string) => readonly Syntax[];
}

/** See the module comment. */
export class Walk {
  readonly needs: Need[] = [];
  readonly gaps: Gap[] = [];
  readonly #tools: WalkTools;
  readonly #walked: Walked;
  readonly #seen = new Set<string>();

  constructor(tools: WalkTools, walked: Walked) {
    this.#tools = tools;
    this.#walked = walked;
  }

  /** Walks through an expression and everything that it leads to. */
  into(node: Syntax, scope: Scope = EMPTY): void {
    const key = `${this.#reading.keyOf(node)} ${this.#keyOf(scope)}`;
    if (this.#seen.has(key)) return;
    this.#seen.add(key);
    this.#visit(node, scope);
  }

  get #reading(): Reading {
    return this.#tools.reading;
  }

  /** Two calls with other arguments of the same kinds lead to the same. */
  #keyOf(scope: Scope): string {
    const kinds = [...scope.bound.values()].map(({ node, scope: at }) =>
      this.#tools.kinds.of(node, this.#context(at))?.map(({ group, plural }) => `${plural}.${group}`),
    );
    return JSON.stringify(kinds);
  }

  #context(scope: Scope): KindContext {
    return { scope, own: this.#walked.own };
  }

  #visit(node: Syntax, scope: Scope): undefined {
    const { compiler } = this.#reading;
    if (compiler.is(node, "CallExpression", "NewExpression")) this.#call(node, scope);
    else if (compiler.is(node, "Identifier")) this.#reference(node, scope);
    else if (compiler.is(node, "PropertyAccessExpression")) this.#access(node, scope);
    else if (compiler.is(node, "ObjectLiteralExpression")) this.#manifest(node, scope);
    node.forEachChild((child) => this.#visit(child, scope));
    return undefined;
  }

  #call(call: Syntax, scope: Scope): void {
    const { compiler } = this.#reading;
    const callee = compiler.calleeOf(call);
    const origin = callee && this.#reading.originOf(callee.file);
    if (!callee) this.#untyped(call, scope);
    else if (origin === "other") this.#foreign(call, callee);
    else if (origin === "own") this.#follow(callee, call, scope);
    else if (origin === "lotse" && callee.node) this.#ask(call, this.#reading.memberName(callee.node), scope);
    if (compiler.is(call, "NewExpression")) this.#construct(call, scope);
  }

  #ask(call: Syntax, method: MemberName, scope: Scope): void {
    const context = this.#context(scope);
    const found = this.#tools.requests.read(call, method, context, this.#by(call));
    if ("gap" in found) this.#gap(call, found.gap);
    else this.needs.push(...found.needs);
    if (method.member === "gen") this.#child(call.expression?.expression, scope);
  }

  /** A call of which the compiler knows nothing. */
  #untyped(call: Syntax, scope: Scope): void {
    const { untyped } = this.#tools;
    const method = untyped.methodOf(call, this.#context(scope));
    if (method) this.#ask(call, method, scope);
    else if (untyped.isSuspicious(call))
      this.#gap(call, `the type of what ${this.#nameOf(call)} is called on is not known`);
    else this.#foreign(call, undefined);
  }

  /** Code that cannot be looked into: that is only of interest if it gets hold of the cluster. */
  #foreign(call: Syntax, callee: Declaration | undefined): void {
    if (!callee && this.#isLocalValue(call.expression)) return;
    const handed = call.arguments?.find((one) => this.#reachesCluster(one));
    if (!handed) return;
    const name = this.#nameOf(call);
    this.#gap(
      call,
      callee
        ? `${name} is not of this project, and gets ${this.#nameOfType(handed)}`
        : `what ${name} calls is only known when it runs`,
    );
  }

  /** A function that came in as an argument, or lies in an object of the project, was seen where it was written. */
  #isLocalValue(callee: Syntax | undefined): boolean {
    const { compiler } = this.#reading;
    let at = callee && this.#reading.bare(callee);
    while (at && compiler.is(at, "PropertyAccessExpression", "ElementAccessExpression") && at.expression) {
      at = this.#reading.bare(at.expression);
    }
    return at !== undefined && compiler.is(at, "Identifier") && this.#reading.ownDeclaration(at) !== undefined;
  }

  #follow(callee: Declaration, call: Syntax, scope: Scope): void {
    const { node } = callee;
    if (!node) return;
    const bodies = this.#bodiesOf(node, call);
    for (const one of bodies) this.#enter(one, call.arguments ?? [], scope);
    if (bodies.length > 0 || this.#isLocalValue(call.expression)) return;
    const handed = call.arguments?.find((one) => this.#reachesCluster(one));
    if (handed) this.#gap(call, `what ${this.#nameOf(call)} calls is only known when it runs`);
  }

  /** The functions behind a declaration: itself, the one below its overloads, or those that go by its name. */
  #bodiesOf(node: Syntax, call: Syntax): readonly Syntax[] {
    if (node.body) return [node];
    const { compiler } = this.#reading;
    const callee = call.expression && this.#reading.bare(call.expression);
    const name = callee?.name ?? callee;
    const others = name && compiler.is(name, "Identifier") ? compiler.declarationsOf(name) : [];
    const overloaded = others.flatMap((one) => (one.node?.body ? [one.node] : []));
    if (overloaded.length > 0) return overloaded;
    const called = compiler.is(node, "MethodSignature", "MethodDeclaration", "FunctionType") ? name?.text : undefined;
    return called === undefined ? [] : this.#tools.implementations(called);
  }

  #enter(fn: Syntax, args: readonly Syntax[], scope: Scope): void {
    const bound = new Map<string, Bound>();
    for (const [i, parameter] of (fn.parameters ?? []).entries()) {
      const arg = args[i];
      if (!arg) continue;
      bound.set(this.#reading.keyOf(parameter), { node: arg, scope });
      const literal = this.#reading.objectLiteral(arg);
      if (!parameter.name || !literal) continue;
      for (const element of parameter.name.elements ?? []) {
        const key = (element.propertyName ?? element.name)?.text;
        const value = key === undefined ? undefined : this.#reading.property(literal, key);
        if (value) bound.set(this.#reading.keyOf(element), { node: value, scope });
      }
    }
    this.into(fn, { bound });
  }

  #construct(call: Syntax, scope: Scope): void {
    this.#child(call.expression, scope);
    const { expression } = call;
    const made = expression && this.#reading.ownDeclaration(expression.name ?? expression);
    if (!made || !this.#reading.isClass(made)) return;
    for (const member of made.members ?? []) {
      if (member.initializer) this.into(member.initializer);
    }
  }

  /** A name that stands for a function or a value of a module: code that mentions it may use it. */
  #reference(name: Syntax, scope: Scope): void {
    if (this.#usesPatch(name)) this.#patches(name);
    const { compiler } = this.#reading;
    const { parent } = name;
    if (!parent || parent.name === name || parent.propertyName === name) return;
    if (compiler.is(parent, "CallExpression", "NewExpression") && parent.expression === name) return;
    const declared = this.#reading.ownDeclaration(name);
    if (!declared) return;
    if (compiler.is(declared, "FunctionDeclaration")) this.into(declared);
    else if (declared.initializer && this.#isOfModule(declared)) this.into(declared.initializer);
    else if (compiler.is(declared, "Parameter", "BindingElement")) this.#given(declared, scope);
  }

  /** What came in as an argument was seen by the caller; a function among it is one of the project's. */
  #given(declared: Syntax, scope: Scope): void {
    const bound = scope.bound.get(this.#reading.keyOf(declared));
    if (bound && this.#reading.isFunction(this.#reading.bare(bound.node))) this.into(bound.node, bound.scope);
  }

  #isOfModule(node: Syntax): boolean {
    for (let at = node.parent; at; at = at.parent) {
      if (this.#reading.isFunction(at) || this.#reading.isClass(at)) return false;
    }
    return true;
  }

  #access(node: Syntax, scope: Scope): void {
    if (this.#usesPatch(node)) this.#patches(node);
    const declared = node.name && this.#reading.ownDeclaration(node.name);
    if (declared && this.#reading.compiler.is(declared, "GetAccessor")) this.into(declared, scope);
  }

  /** Whether this is the patch of a context, put to a use that writes more than the status. */
  #usesPatch(node: Syntax): boolean {
    const { compiler } = this.#reading;
    const { parent } = node;
    if (!parent || parent.name === node || parent.propertyName === node) return false;
    if (compiler.is(parent, "PropertyAccessExpression") && parent.expression === node) {
      if (parent.name?.text === "status") return false;
    } else if (compiler.is(parent, "CallExpression") && this.#takesPatch(parent, node)) return false;
    return this.#isPatch(node);
  }

  /** Whether a function of the project takes it as what it is: then its use is seen there. */
  #takesPatch(call: Syntax, patch: Syntax): boolean {
    const callee = this.#reading.compiler.calleeOf(call);
    if (!callee || !this.#reading.isOwn(callee)) return false;
    const parameter = callee.node?.parameters?.[call.arguments?.indexOf(patch) ?? -1]?.name;
    return parameter !== undefined && this.#isPatch(parameter);
  }

  #isPatch(node: Syntax): boolean {
    return this.#reading.compiler.typesOf(node).some((type) => this.#reading.lotseAlias(type) === "Patch");
  }

  #patches(node: Syntax): void {
    if (this.#walked.judges) return;
    if (!this.#walked.own) {
      this.#gap(node, "the kind of its object is only known when it runs");
      return;
    }
    for (const { group, plural, namespaced } of this.#walked.own) {
      this.needs.push({ group, resource: plural, verbs: ["patch"], ...this.#by(node), clusterWide: !namespaced });
    }
  }

  #manifest(object: Syntax, scope: Scope): void {
    const has = (name: string) => this.#reading.property(object, name) !== undefined;
    if (has("apiVersion") && has("kind")) this.#child(object, scope);
  }

  #child(made: Syntax | undefined, scope: Scope): void {
    if (!this.#walked.keepsChildren || !made) return;
    for (const { group, plural, namespaced } of this.#tools.kinds.of(made, this.#context(scope)) ?? []) {
      this.needs.push({ group, resource: plural, verbs: CHILD_VERBS, ...this.#by(made), clusterWide: !namespaced });
    }
  }

  /** Whether a function that gets this value can ask the cluster for something. */
  #reachesCluster(node: Syntax): boolean {
    return this.#reading.compiler.typesOf(node).some((type) => {
      const name = this.#reading.lotseName(type);
      if (name === "Client" || name?.endsWith("Context") || name?.startsWith("Cached")) return true;
      return name !== undefined && this.#tools.kinds.of(node, this.#context(EMPTY)) !== undefined;
    });
  }

  #nameOfType(node: Syntax): string {
    const [name] = this.#reading.compiler.typesOf(node).flatMap((type) => this.#reading.lotseName(type) ?? []);
    if (name === "Client") return "the client";
    if (name?.startsWith("Cached")) return "a way to read the cluster";
    return name?.endsWith("Context") ? "the context" : "an object";
  }

  #nameOf(call: Syntax): string {
    const callee = call.expression;
    return callee?.name?.text ?? callee?.text ?? "a function";
  }

  #by(node: Syntax): Asker {
    return { by: this.#walked.by, sourceLocation: this.#tools.placeOf(node) };
  }

  #gap(node: Syntax, what: string): void {
    this.gaps.push({ sourceLocation: this.#tools.placeOf(node), what });
  }
}

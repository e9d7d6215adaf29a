/**
 * Of which kind is it? From an expression (a class, an object, a manifest, a list of them, a name in kubectl's spelling) to
 * the kinds that it can mean: by its type where the type says it, else by where its value comes from.
 */
import * as client from "@lotse/client";
import { describeKind, findKinds, type KindDescription, parseApiVersion } from "@lotse/client";
import { EMPTY, type Reading, type Scope } from "./reading.ts";
import type { Sorts } from "./sorts.ts";
import type { Syntax, TypeView } from "./syntax.ts";

/** A kind as far as a rule needs it. */
export type KindFound = Pick<KindDescription, "group" | "plural" | "kind" | "namespaced" | "subresources">;

/** What is known about the place that is looked at. */
export interface KindContext {
  readonly scope: Scope;
  /** The kinds of the handler's own object; undefined when only the cluster knows. */
  readonly own: readonly KindFound[] | undefined;
}

/** A kind that the project has made, and how the compiler prints its class and its objects. */
interface MadeKind {
  readonly kind: KindFound;
  readonly texts: ReadonlySet<string>;
}

/** Deep enough for anything that people write, and an end to what goes in circles. */
const DEEPEST = 20;

/** The kinds that the client has a class for. */
export function builtinKinds(): KindDescription[] {
  return Object.values(client as Readonly<Record<string, unknown>>).flatMap((value) => descriptionOf(value) ?? []);
}

function descriptionOf(value: unknown): KindDescription | undefined {
  return typeof value === "function" ? (value as { description?: KindDescription }).description : undefined;
}

/** Whether a type says no more than that it is a class or an object of some kind. */
function meansAnyKind(text: string): boolean {
  const general =
    /\b(?:KindClass|KindStatics|GenStatics|ResourceClass|KubeObject|SpecObject|ScalableObject|KubeBody|ObjectBody|ResourceBody|any|unknown|Record|string)\b/g;
  return text.replaceAll(general, "").replaceAll(/[\s<>,&]/g, "") === "";
}

/** See the module comment. */
export class KindReader {
  readonly #reading: Reading;
  readonly #sorts: Sorts;
  readonly #ownFiles: readonly Syntax[];
  #made: readonly MadeKind[] | undefined;
  #builtin: readonly KindDescription[] | undefined;

  /** `ownFiles`: the project's own, in which kinds are made. */
  constructor(reading: Reading, sorts: Sorts, ownFiles: readonly Syntax[]) {
    this.#reading = reading;
    this.#sorts = sorts;
    this.#ownFiles = ownFiles;
  }

  /** The kinds that an expression can mean; undefined when that is only known when it runs. */
  of(node: Syntax, context: KindContext, depth = 0): readonly KindFound[] | undefined {
    if (depth > DEEPEST) return undefined;
    const { compiler } = this.#reading;
    const at = this.#reading.bare(node);
    const all = (nodes: readonly (Syntax | undefined)[]) => this.#all(nodes, context, depth + 1);
    if (compiler.is(at, "ArrayLiteralExpression")) return all(at.elements ?? []);
    if (compiler.is(at, "SpreadElement")) return all([at.expression]);
    if (compiler.is(at, "ConditionalExpression")) return all([at.whenTrue, at.whenFalse]);
    if (compiler.is(at, "ObjectLiteralExpression")) return this.#ofManifest(at, context, depth);
    return this.#byDefinition(at) ?? this.#byType(compiler.typesOf(at), context) ?? this.#byOrigin(at, context, depth);
  }

  /** By any of kubectl's spellings: `po`, `deployments.apps`, `deployment/web`. */
  named(text: string): readonly KindFound[] | undefined {
    this.#builtin ??= builtinKinds();
    const [found] = findKinds(this.#builtin, text);
    if (found) return [found];
    const slash = text.lastIndexOf("/");
    return slash > 0 ? this.named(text.slice(0, slash)) : undefined;
  }

  #all(nodes: readonly (Syntax | undefined)[], context: KindContext, depth: number): readonly KindFound[] | undefined {
    const found: KindFound[] = [];
    for (const node of nodes) {
      // `condition && child`: where there is nothing, nothing is asked for.
      if (!node || this.#isNothing(node)) continue;
      const kinds = this.of(node, context, depth);
      if (!kinds) return undefined;
      found.push(...kinds);
    }
    return found;
  }

  #isNothing(node: Syntax): boolean {
    const types = this.#reading.compiler.typesOf(node);
    return types.length === 0 || types.every((type) => type.text() === "false");
  }

  #ofManifest(object: Syntax, context: KindContext, depth: number): readonly KindFound[] | undefined {
    const child = this.#reading.property(object, "child");
    if (child) return this.of(child, context, depth + 1);
    const apiVersion = this.#reading.literal(this.#reading.property(object, "apiVersion"));
    const kind = this.#reading.literal(this.#reading.property(object, "kind"));
    if (apiVersion === undefined || kind === undefined) return undefined;
    return [this.#known({ ...parseApiVersion(apiVersion), kind })];
  }

  /** A built-in kind knows its plural and scope; others are taken at their word. */
  #known(sketch: Parameters<typeof describeKind>[0]): KindFound {
    this.#builtin ??= builtinKinds();
    return this.#builtin.find((one) => one.group === sketch.group && one.kind === sketch.kind) ?? describeKind(sketch);
  }

  /** `resource({...})` and `defineKind({...})`, or a name that stands for one. */
  #byDefinition(node: Syntax): readonly KindFound[] | undefined {
    const { compiler } = this.#reading;
    if (compiler.is(node, "CallExpression")) {
      const kind = this.#makes(node);
      return kind && [kind];
    }
    if (!compiler.is(node, "Identifier", "PropertyAccessExpression")) return undefined;
    const declared = this.#reading.ownDeclaration(node.name ?? node);
    if (!declared) return undefined;
    if (this.#reading.isClass(declared)) return this.#ofClass(declared);
    const { initializer } = declared;
    const made = initializer && this.#reading.bare(initializer);
    return made && compiler.is(made, "CallExpression") ? this.#byDefinition(made) : undefined;
  }

  /** The kind that a call makes. */
  #makes(call: Syntax): KindFound | undefined {
    const { compiler } = this.#reading;
    const callee = compiler.calleeOf(call);
    if (!this.#reading.isLotse(callee) || !callee?.node) return undefined;
    const { owner, member } = this.#reading.memberName(callee.node);
    if (owner !== "" || (member !== "resource" && member !== "defineKind" && member !== "describeKind"))
      return undefined;
    const [definition] = call.arguments ?? [];
    const literal = definition && this.#reading.objectLiteral(definition);
    if (!literal) return undefined;
    const text = (name: string) => this.#reading.literal(this.#reading.property(literal, name));
    const [group, kind, plural, version] = [text("group"), text("kind"), text("plural"), text("version")];
    if (group === undefined || kind === undefined) return undefined;
    const clusterWide = text("scope") === "Cluster" || this.#isFalse(this.#reading.property(literal, "namespaced"));
    const scaled = this.#reading.property(literal, "scale") !== undefined;
    return this.#known({
      group,
      version: version ?? "v1",
      kind,
      ...(plural !== undefined && { plural }),
      namespaced: !clusterWide,
      // A kind of resource() has a status of its own; a class alone says nothing of that.
      subresources: [
        ...(member === "resource" ? ["status"] : []),
        ...(scaled && member === "resource" ? ["scale"] : []),
      ],
    });
  }

  #isFalse(node: Syntax | undefined): boolean {
    return node !== undefined && this.#reading.compiler.typesOf(node).some((type) => type.text() === "false");
  }

  /** A class of the project: what it extends. */
  #ofClass(node: Syntax): readonly KindFound[] | undefined {
    for (const clause of node.heritageClauses ?? []) {
      for (const type of clause.types ?? []) {
        const found = type.expression && this.of(type.expression, { scope: EMPTY, own: undefined });
        if (found) return found;
      }
    }
    return undefined;
  }

  #byType(types: readonly TypeView[], context: KindContext): readonly KindFound[] | undefined {
    if (types.length === 0) return undefined;
    const found: KindFound[] = [];
    for (const type of types) {
      const kinds = this.#ofType(type, context);
      if (!kinds) return undefined;
      found.push(...kinds);
    }
    return found;
  }

  #ofType(type: TypeView, context: KindContext): readonly KindFound[] | undefined {
    if (type.literal !== undefined) return this.named(type.literal);
    const elements = type.elements();
    if (elements) return this.#byType(elements, context);
    const name = this.#reading.lotseName(type);
    if (name !== undefined) {
      const builtin = descriptionOf((client as Readonly<Record<string, unknown>>)[name]);
      if (builtin) return [builtin];
      return this.#printed(type.text());
    }
    const declared = type.declaration && this.#reading.isOwn(type.declaration) ? type.declaration.node : undefined;
    return declared && this.#reading.isClass(declared) ? this.#ofClass(declared) : undefined;
  }

  /** Objects of kinds that the project has made have no name of their own in types; but each is printed its own way. */
  #printed(text: string): readonly KindFound[] | undefined {
    this.#made ??= this.#findMade();
    const found = this.#made.filter(({ texts }) => texts.has(text)).map(({ kind }) => kind);
    return found.length > 0 ? found : undefined;
  }

  #findMade(): MadeKind[] {
    const { compiler } = this.#reading;
    const made: MadeKind[] = [];
    const visit = (node: Syntax): undefined => {
      if (compiler.is(node, "CallExpression")) {
        const kind = this.#makes(node);
        const types = kind ? compiler.typesOf(node) : [];
        const printed = types.flatMap((type) => [type, ...type.instances()].map((one) => one.text()));
        const texts = new Set(printed.filter((text) => !meansAnyKind(text)));
        if (kind) made.push({ kind, texts });
      }
      node.forEachChild(visit);
    };
    for (const file of this.#ownFiles) visit(file);
    return made;
  }

  /** Where the value comes from. */
  #byOrigin(node: Syntax, context: KindContext, depth: number): readonly KindFound[] | undefined {
    const { compiler } = this.#reading;
    if (this.#sorts.of(node, context.scope) === "object") return context.own;
    if (compiler.is(node, "BinaryExpression")) return this.#all([node.left, node.right], context, depth + 1);
    if (compiler.is(node, "CallExpression")) return this.#ofCall(node, context, depth);
    if (compiler.is(node, "NewExpression")) return this.#all([node.expression], context, depth + 1);
    if (!compiler.is(node, "Identifier")) return undefined;
    const declared = this.#reading.ownDeclaration(node);
    if (!declared) return undefined;
    const bound = context.scope.bound.get(this.#reading.keyOf(declared));
    if (bound) return this.of(bound.node, { ...context, scope: bound.scope }, depth + 1);
    return declared.initializer ? this.of(declared.initializer, context, depth + 1) : undefined;
  }

  /** What is passed through: `client.create(x)`, `adopt(x)`, `client.list(K).first()`. */
  #ofCall(call: Syntax, context: KindContext, depth: number): readonly KindFound[] | undefined {
    const callee = this.#reading.compiler.calleeOf(call);
    if (callee && this.#reading.originOf(callee.file) === "own") return undefined;
    const [first] = call.arguments ?? [];
    const receiver = call.expression?.expression;
    // Of a call without a type it is not known whose it is; what it is given tells as much.
    const passed = !callee || this.#reading.isLotse(callee) ? [first, receiver] : [receiver];
    for (const node of passed) {
      const found = node && this.of(node, context, depth + 1);
      if (found) return found;
    }
    return undefined;
  }
}

/** TypeScript from version 7 on: a program of its own, which is asked. Its interface is not final; what is used is below. */
import { createRequire } from "node:module";
import path from "node:path";
import { pathToFileURL } from "node:url";
import type { Compiler, Declaration, Syntax, SyntaxName, TypeView } from "./syntax.ts";

interface Handle {
  readonly path: string;
  resolve(): Syntax | undefined;
}

interface NativeSymbol {
  readonly name: string;
  readonly flags: number;
  readonly declarations: readonly Handle[];
}

interface NativeType {
  readonly flags: number;
  readonly value?: unknown;
  getSymbol(): NativeSymbol | undefined;
  getAliasSymbol(): NativeSymbol | undefined;
  getTypes?(): readonly NativeType[] | undefined;
  isUnionType(): boolean;
  isIntersectionType(): boolean;
  isStringLiteralType(): boolean;
}

interface NativeSignature {
  readonly declaration?: Handle | undefined;
}

interface Checker {
  getSymbolAtLocation(node: Syntax): NativeSymbol | undefined;
  getShorthandAssignmentValueSymbol(node: Syntax | undefined): NativeSymbol | undefined;
  getAliasedSymbol(symbol: NativeSymbol): NativeSymbol;
  getResolvedSignature(node: Syntax): NativeSignature | undefined;
  getTypeAtLocation(node: Syntax): NativeType | undefined;
  getTypeArguments(type: NativeType): readonly NativeType[];
  getSignaturesOfType(type: NativeType, kind: number): readonly NativeSignature[];
  getReturnTypeOfSignature(signature: NativeSignature): NativeType | undefined;
  isArrayType(type: NativeType): boolean;
  isTupleType(type: NativeType): boolean;
  typeToString(type: NativeType, enclosing: undefined, flags: number): string;
}

interface Project {
  readonly program: { getSourceFile(file: string): Syntax | undefined; getSourceFileNames(): readonly string[] };
  readonly checker: Checker;
}

/** The program at work. */
interface Session {
  updateSnapshot(of: { openProjects: string[] }): { getProjects(): readonly Project[] };
  close(): void;
  /** Not meant to be seen, and perhaps not there. */
  readonly client?: { readonly channel?: { readonly child?: { kill(signal: "SIGKILL"): unknown } } };
}

/** What is used of `typescript/unstable/sync`. */
interface Library {
  readonly API: new (options: { cwd: string }) => Session;
  readonly SymbolFlags: { readonly Alias: number };
  readonly TypeFlags: Readonly<Record<"Any" | "Unknown" | "Undefined" | "Null" | "Void", number>>;
  readonly SignatureKind: { readonly Construct: number };
  readonly NodeBuilderFlags: { readonly NoTruncation: number };
}

interface SourceNode extends Syntax {
  getStart(): number;
  getSourceFile(): { readonly fileName: string; readonly text: string };
}

/** Reads the project of a settings file with the program at `place`, the package's package.json. */
export async function openNative(place: string, project: string, version: string): Promise<Compiler> {
  const resolve = createRequire(place).resolve;
  const load = (name: string) => import(/* @vite-ignore */ pathToFileURL(resolve(name)).href);
  const library = (await load("typescript/unstable/sync")) as Library;
  const { SyntaxKind } = (await load("typescript/unstable/ast")) as { SyntaxKind: Readonly<Record<string, number>> };
  const api = new library.API({ cwd: path.dirname(project) });
  const close = () => {
    // Told to end, it would complain about that on our standard error; nothing is lost when it just goes.
    api.client?.channel?.child?.kill("SIGKILL");
    try {
      api.close();
    } catch {
      // It wants to say good-bye to a program that is gone.
    }
  };
  try {
    const [opened] = api.updateSnapshot({ openProjects: [project] }).getProjects();
    if (!opened) throw new Error("it did not open the project");
    return new NativeCompiler(library, SyntaxKind, opened, version, close);
  } catch (error) {
    close();
    throw error;
  }
}

class NativeCompiler implements Compiler {
  readonly version: string;
  readonly files: readonly string[];
  readonly #library: Library;
  readonly #kinds: Readonly<Record<string, number>>;
  readonly #project: Project;
  readonly #close: () => void;

  constructor(
    library: Library,
    kinds: Readonly<Record<string, number>>,
    project: Project,
    version: string,
    close: () => void,
  ) {
    this.version = version;
    this.#library = library;
    this.#kinds = kinds;
    this.#project = project;
    this.#close = close;
    this.files = project.program.getSourceFileNames();
  }

  source(file: string): Syntax | undefined {
    return this.#project.program.getSourceFile(file);
  }

  is(node: Syntax, ...names: readonly SyntaxName[]): boolean {
    return names.some((name) => this.#kinds[name] === node.kind);
  }

  declarationsOf(name: Syntax): readonly Declaration[] {
    const { checker } = this.#project;
    const shorthand = name.parent && this.is(name.parent, "ShorthandPropertyAssignment");
    const found = shorthand
      ? checker.getShorthandAssignmentValueSymbol(name.parent)
      : checker.getSymbolAtLocation(name);
    const symbol = found && (found.flags & this.#library.SymbolFlags.Alias ? checker.getAliasedSymbol(found) : found);
    return (symbol?.declarations ?? []).map(declarationOf);
  }

  calleeOf(call: Syntax): Declaration | undefined {
    const { declaration } = this.#project.checker.getResolvedSignature(call) ?? {};
    return declaration && declarationOf(declaration);
  }

  typesOf(node: Syntax): readonly TypeView[] {
    const type = this.#project.checker.getTypeAtLocation(node);
    return type ? this.#views(type) : [];
  }

  placeOf(node: Syntax): { readonly file: string; readonly line: number } {
    const source = (node as SourceNode).getSourceFile();
    const before = source.text.slice(0, (node as SourceNode).getStart());
    return { file: source.fileName, line: before.split("\n").length };
  }

  [Symbol.dispose](): void {
    this.#close();
  }

  #views(type: NativeType): readonly TypeView[] {
    // An alias of a whole union or intersection is the name that people know it by.
    if ((type.isUnionType() || type.isIntersectionType()) && !type.getAliasSymbol()) {
      return membersOf(type).flatMap((one) => this.#views(one));
    }
    const { Undefined, Null, Void } = this.#library.TypeFlags;
    return type.flags & (Undefined | Null | Void) ? [] : [this.#view(type)];
  }

  #view(type: NativeType): TypeView {
    const { TypeFlags, SignatureKind, NodeBuilderFlags } = this.#library;
    const { checker } = this.#project;
    const symbol = type.getSymbol();
    const alias = type.getAliasSymbol();
    return {
      name: symbol?.name,
      declaration: first(symbol),
      alias: alias?.name,
      aliasDeclaration: first(alias),
      literal: type.isStringLiteralType() ? String(type.value) : undefined,
      isAny: (type.flags & (TypeFlags.Any | TypeFlags.Unknown)) !== 0,
      elements: () =>
        checker.isArrayType(type) || checker.isTupleType(type)
          ? checker.getTypeArguments(type).flatMap((one) => this.#views(one))
          : undefined,
      instances: () =>
        checker
          .getSignaturesOfType(type, SignatureKind.Construct)
          .slice(0, 1)
          .flatMap((one) => {
            const made = checker.getReturnTypeOfSignature(one);
            return made ? this.#views(made) : [];
          }),
      text: () => checker.typeToString(type, undefined, NodeBuilderFlags.NoTruncation),
    };
  }
}

/** There are types that it cannot send (7.0 fails at some tuples); then nothing is known of their members. */
function membersOf(type: NativeType): readonly NativeType[] {
  try {
    return type.getTypes?.() ?? [];
  } catch {
    return [];
  }
}

function first(symbol: NativeSymbol | undefined): Declaration | undefined {
  const handle = symbol?.declarations[0];
  return handle && declarationOf(handle);
}

function declarationOf(handle: Handle): Declaration {
  return {
    file: handle.path,
    get node() {
      return handle.resolve();
    },
  };
}

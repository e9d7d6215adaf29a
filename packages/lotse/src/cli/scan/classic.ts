/** TypeScript up to version 6: a library that reads a project in this process. */
import { createRequire } from "node:module";
import type { Compiler, Declaration, Syntax, SyntaxName, TypeView } from "./syntax.ts";

interface ClassicSymbol {
  readonly name: string;
  readonly flags: number;
  readonly declarations?: readonly ClassicNode[];
  readonly valueDeclaration?: ClassicNode;
}

interface ClassicNode extends Syntax {
  getStart(): number;
  getSourceFile(): ClassicSource;
}

interface ClassicSource extends ClassicNode {
  readonly fileName: string;
  getLineAndCharacterOfPosition(position: number): { readonly line: number };
}

interface ClassicType {
  readonly flags: number;
  readonly symbol?: ClassicSymbol;
  readonly aliasSymbol?: ClassicSymbol;
  readonly types?: readonly ClassicType[];
  readonly value?: unknown;
}

interface ClassicSignature {
  readonly declaration?: ClassicNode;
  getReturnType(): ClassicType;
}

interface Checker {
  getSymbolAtLocation(node: Syntax): ClassicSymbol | undefined;
  getShorthandAssignmentValueSymbol(node: Syntax | undefined): ClassicSymbol | undefined;
  getAliasedSymbol(symbol: ClassicSymbol): ClassicSymbol;
  getResolvedSignature(node: Syntax): ClassicSignature | undefined;
  getTypeAtLocation(node: Syntax): ClassicType;
  getTypeArguments(type: ClassicType): readonly ClassicType[];
  getSignaturesOfType(type: ClassicType, kind: number): readonly ClassicSignature[];
  isArrayType(type: ClassicType): boolean;
  isTupleType(type: ClassicType): boolean;
  typeToString(type: ClassicType, enclosing: undefined, flags: number): string;
}

/** What is used of the library. */
interface Library {
  readonly version: string;
  readonly SyntaxKind: Readonly<Record<string, number>>;
  readonly SymbolFlags: { readonly Alias: number };
  readonly TypeFlags: Readonly<Record<"Any" | "Unknown" | "Union" | "Intersection" | "StringLiteral", number>>;
  readonly TypeFormatFlags: { readonly NoTruncation: number };
  readonly SignatureKind: { readonly Construct: number };
  readonly sys: object;
  readConfigFile(file: string, read: unknown): { readonly config?: object; readonly error?: { messageText: unknown } };
  parseJsonConfigFileContent(
    config: object | undefined,
    host: object,
    folder: string,
  ): { readonly fileNames: readonly string[]; readonly options: object };
  createProgram(
    files: readonly string[],
    options: object,
  ): {
    getSourceFiles(): readonly ClassicSource[];
    getSourceFile(file: string): ClassicSource | undefined;
    getTypeChecker(): Checker;
  };
}

/** Reads the project of a settings file with the library at `place`, the package's package.json. */
export function openClassic(place: string, project: string): Compiler {
  const ts = createRequire(place)(place.replace(/package\.json$/, "")) as Library;
  const { readFile } = ts.sys as { readFile: unknown };
  const { config } = ts.readConfigFile(project, readFile);
  const { fileNames, options } = ts.parseJsonConfigFileContent(config, ts.sys, project.replace(/[\\/][^\\/]*$/, ""));
  return new ClassicCompiler(ts, ts.createProgram(fileNames, options));
}

class ClassicCompiler implements Compiler {
  readonly version: string;
  readonly files: readonly string[];
  readonly #ts: Library;
  readonly #program: ReturnType<Library["createProgram"]>;
  readonly #checker: Checker;

  constructor(ts: Library, program: ReturnType<Library["createProgram"]>) {
    this.version = ts.version;
    this.#ts = ts;
    this.#program = program;
    this.#checker = program.getTypeChecker();
    this.files = program.getSourceFiles().map(({ fileName }) => fileName);
  }

  source(file: string): Syntax | undefined {
    return this.#program.getSourceFile(file);
  }

  is(node: Syntax, ...names: readonly SyntaxName[]): boolean {
    return names.some((name) => this.#ts.SyntaxKind[name] === node.kind);
  }

  declarationsOf(name: Syntax): readonly Declaration[] {
    const checker = this.#checker;
    const shorthand = name.parent && this.is(name.parent, "ShorthandPropertyAssignment");
    const found = shorthand
      ? checker.getShorthandAssignmentValueSymbol(name.parent)
      : checker.getSymbolAtLocation(name);
    const symbol = found && (found.flags & this.#ts.SymbolFlags.Alias ? checker.getAliasedSymbol(found) : found);
    return (symbol?.declarations ?? []).map(declarationOf);
  }

  calleeOf(call: Syntax): Declaration | undefined {
    const { declaration } = this.#checker.getResolvedSignature(call) ?? {};
    return declaration && declarationOf(declaration);
  }

  typesOf(node: Syntax): readonly TypeView[] {
    return this.#views(this.#checker.getTypeAtLocation(node));
  }

  placeOf(node: Syntax): { readonly file: string; readonly line: number } {
    const source = (node as ClassicNode).getSourceFile();
    const { line } = source.getLineAndCharacterOfPosition((node as ClassicNode).getStart());
    return { file: source.fileName, line: line + 1 };
  }

  [Symbol.dispose](): void {}

  #views(type: ClassicType): readonly TypeView[] {
    const { Union, Intersection } = this.#ts.TypeFlags;
    // An alias of a whole union or intersection is the name that people know it by.
    if (type.flags & (Union | Intersection) && !type.aliasSymbol) {
      return (type.types ?? []).flatMap((one) => this.#views(one));
    }
    return type.flags & this.#nullish ? [] : [this.#view(type)];
  }

  get #nullish(): number {
    const { Undefined = 0, Null = 0, Void = 0 } = this.#ts.TypeFlags as Readonly<Record<string, number>>;
    return Undefined | Null | Void;
  }

  #view(type: ClassicType): TypeView {
    const { TypeFlags, TypeFormatFlags, SignatureKind } = this.#ts;
    const checker = this.#checker;
    return {
      name: type.symbol?.name,
      declaration: first(type.symbol),
      alias: type.aliasSymbol?.name,
      aliasDeclaration: first(type.aliasSymbol),
      literal: type.flags & TypeFlags.StringLiteral ? String(type.value) : undefined,
      isAny: (type.flags & (TypeFlags.Any | TypeFlags.Unknown)) !== 0,
      elements: () =>
        checker.isArrayType(type) || checker.isTupleType(type)
          ? checker.getTypeArguments(type).flatMap((one) => this.#views(one))
          : undefined,
      instances: () =>
        checker
          .getSignaturesOfType(type, SignatureKind.Construct)
          .slice(0, 1)
          .flatMap((one) => this.#views(one.getReturnType())),
      text: () => checker.typeToString(type, undefined, TypeFormatFlags.NoTruncation),
    };
  }
}

function first(symbol: ClassicSymbol | undefined): Declaration | undefined {
  const node = symbol?.declarations?.[0];
  return node && declarationOf(node);
}

function declarationOf(node: ClassicNode): Declaration {
  return { file: node.getSourceFile().fileName, node };
}

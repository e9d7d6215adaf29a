/**
 * What the scan needs of a TypeScript compiler. The project's own is used, whichever it is: up to version 6 it is a
 * library, from 7 on a program that answers questions. Both have the same syntax trees; who looks at code here knows
 * neither of them.
 */

/** A node of a syntax tree. Which fields it has depends on its kind; they are called the same in all versions. */
export interface Syntax {
  readonly kind: number;
  readonly pos: number;
  readonly end: number;
  readonly parent: Syntax | undefined;
  forEachChild<T>(visit: (child: Syntax) => T | undefined): T | undefined;
  readonly argumentExpression?: Syntax | undefined;
  readonly arguments?: readonly Syntax[] | undefined;
  readonly body?: Syntax | undefined;
  readonly elements?: readonly Syntax[] | undefined;
  readonly expression?: Syntax | undefined;
  readonly head?: Syntax | undefined;
  readonly heritageClauses?: readonly Syntax[] | undefined;
  readonly initializer?: Syntax | undefined;
  readonly left?: Syntax | undefined;
  readonly literal?: Syntax | undefined;
  readonly members?: readonly Syntax[] | undefined;
  readonly name?: Syntax | undefined;
  readonly parameters?: readonly Syntax[] | undefined;
  readonly properties?: readonly Syntax[] | undefined;
  readonly propertyName?: Syntax | undefined;
  readonly right?: Syntax | undefined;
  readonly statements?: readonly Syntax[] | undefined;
  readonly templateSpans?: readonly Syntax[] | undefined;
  readonly text?: string | undefined;
  readonly types?: readonly Syntax[] | undefined;
  readonly whenFalse?: Syntax | undefined;
  readonly whenTrue?: Syntax | undefined;
}

/** The kinds of nodes that the scan tells apart. */
export const SYNTAX_NAMES = [
  "ArrayBindingPattern",
  "ArrayLiteralExpression",
  "ArrowFunction",
  "AsExpression",
  "AwaitExpression",
  "BinaryExpression",
  "BindingElement",
  "CallExpression",
  "CallSignature",
  "ClassDeclaration",
  "ClassExpression",
  "ConditionalExpression",
  "Constructor",
  "ElementAccessExpression",
  "FunctionDeclaration",
  "FunctionExpression",
  "FunctionType",
  "GetAccessor",
  "Identifier",
  "InterfaceDeclaration",
  "MethodDeclaration",
  "MethodSignature",
  "NewExpression",
  "NoSubstitutionTemplateLiteral",
  "NonNullExpression",
  "ObjectBindingPattern",
  "ObjectLiteralExpression",
  "Parameter",
  "ParenthesizedExpression",
  "PropertyAccessExpression",
  "PropertyAssignment",
  "PropertyDeclaration",
  "PropertySignature",
  "SatisfiesExpression",
  "SetAccessor",
  "ShorthandPropertyAssignment",
  "SpreadAssignment",
  "SpreadElement",
  "StringLiteral",
  "TemplateExpression",
  "TypeAliasDeclaration",
  "VariableDeclaration",
] as const;

/** One of {@link SYNTAX_NAMES}. */
export type SyntaxName = (typeof SYNTAX_NAMES)[number];

/** Where something is declared. Its node is fetched when the scan looks at it: the libraries' are large. */
export interface Declaration {
  /** Absolute path. */
  readonly file: string;
  readonly node: Syntax | undefined;
}

/** One type; of a union each member is one. */
export interface TypeView {
  /** The class, interface or type parameter. */
  readonly name: string | undefined;
  readonly declaration: Declaration | undefined;
  /** The name of the alias that it was written by. */
  readonly alias: string | undefined;
  readonly aliasDeclaration: Declaration | undefined;
  /** Of a literal type its value. */
  readonly literal: string | undefined;
  /** Nothing is known of it. */
  readonly isAny: boolean;
  /** What a list has in it. */
  elements(): readonly TypeView[] | undefined;
  /** What `new` makes of it. */
  instances(): readonly TypeView[];
  /** As the compiler prints it, in full. */
  text(): string;
}

/** A compiler that has read the project. */
export interface Compiler extends Disposable {
  readonly version: string;
  /** All files that were read, the libraries' included. */
  readonly files: readonly string[];
  source(file: string): Syntax | undefined;
  is(node: Syntax, ...names: readonly SyntaxName[]): boolean;
  /** What a name means, behind all imports. */
  declarationsOf(name: Syntax): readonly Declaration[];
  /** What a call or a `new` calls. */
  calleeOf(call: Syntax): Declaration | undefined;
  typesOf(node: Syntax): readonly TypeView[];
  /** Absolute path and line, from 1. */
  placeOf(node: Syntax): { readonly file: string; readonly line: number };
}

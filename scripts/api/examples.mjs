// The examples in doc comments of public names, as modules that compile. An example says no more than a reader needs, so
// what it takes for granted is put before it: imports of our packages for the names that they export, and for the rest
// the objects, kinds and functions of example-context.ts.
import ts from "@typescript/typescript6";

/**
 * @typedef {object} Example
 * @property {string} file  the source that has it, relative to the repository
 * @property {number} line  of its first line of code, from 1
 * @property {string} code
 * @property {string} entry the entry point that exports what it is about
 */

/**
 * The fenced TypeScript of one doc comment.
 *
 * @param {string} doc as it stands in a source: with its stars
 * @returns {string[]}
 */
export function codeIn(doc) {
  const text = doc
    .replace(/^\/\*\*/, "")
    .replace(/\*\/$/, "")
    .split("\n")
    .map((line) => line.replace(/^\s*\* ?/, ""))
    .join("\n");
  return [...text.matchAll(/^```ts\n([\s\S]*?)^```$/gm)].map(([, code]) => code);
}

/**
 * All examples of public names, each once, with their places in the sources.
 *
 * @param {{ surfaces: import("./surface.mjs").Surface[] }[]} api
 * @param {(declaration: string) => { file: string, text: string }} sourceOf the source of an emitted declaration
 * @returns {Example[]}
 */
export function examplesOf(api, sourceOf) {
  const found = new Map();
  for (const { entry, names } of api.flatMap(({ surfaces }) => surfaces)) {
    for (const { docs, file: declaration } of names) {
      for (const code of docs.flatMap(codeIn)) {
        const { file, text } = sourceOf(declaration);
        const line = lineOf(text, code);
        found.set(`${file}:${line}:${code}`, { file, line, code, entry });
      }
    }
  }
  return [...found.values()];
}

/** The line of a source in which the first line of an example stands; the next one that looks like it. */
function lineOf(text, code) {
  const wanted = code.split("\n").map((line) => line.trimEnd());
  const lines = text.split("\n").map((line) => line.replace(/^\s*\* ?/, "").trimEnd());
  const at = lines.findIndex((_, i) => wanted.slice(0, -1).every((line, k) => lines[i + k] === line));
  return at + 1;
}

/** The names that code uses and does not declare. Scopes are not told apart: what is declared anywhere counts. */
export function freeNames(code) {
  const source = ts.createSourceFile("example.ts", code, ts.ScriptTarget.Latest, true);
  const used = new Set();
  const declared = new Set();
  const visit = (node) => {
    if (ts.isIdentifier(node)) {
      if (isDeclaration(node)) declared.add(node.text);
      else if (!isMemberName(node)) used.add(node.text);
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return [...used].filter((name) => !declared.has(name)).sort();
}

function isDeclaration(node) {
  const { parent } = node;
  if (ts.isImportSpecifier(parent) || ts.isImportClause(parent) || ts.isNamespaceImport(parent)) return true;
  return (
    (ts.isVariableDeclaration(parent) ||
      ts.isParameter(parent) ||
      ts.isBindingElement(parent) ||
      ts.isFunctionDeclaration(parent) ||
      ts.isFunctionExpression(parent) ||
      ts.isClassDeclaration(parent) ||
      ts.isInterfaceDeclaration(parent) ||
      ts.isTypeAliasDeclaration(parent) ||
      ts.isTypeParameterDeclaration(parent)) &&
    parent.name === node
  );
}

function isMemberName(node) {
  const { parent } = node;
  if (ts.isPropertyAccessExpression(parent)) return parent.name === node;
  if (ts.isQualifiedName(parent)) return parent.right === node;
  if (ts.isBindingElement(parent)) return parent.propertyName === node;
  return (
    (ts.isPropertyAssignment(parent) ||
      ts.isPropertySignature(parent) ||
      ts.isPropertyDeclaration(parent) ||
      ts.isMethodDeclaration(parent) ||
      ts.isMethodSignature(parent) ||
      ts.isGetAccessor(parent)) &&
    parent.name === node
  );
}

/**
 * An example as a module: everything that it needs on the first line, then its own lines.
 *
 * @param {Example} example
 * @param {(name: string, entry: string) => string | undefined} moduleOf where to import a name from
 */
export function moduleOfExample({ code, entry }, moduleOf) {
  const imports = new Map();
  for (const name of freeNames(code)) {
    const from = moduleOf(name, entry);
    if (from !== undefined) imports.set(from, [...(imports.get(from) ?? []), name]);
  }
  const head = [...imports].map(([from, names]) => `import { ${names.join(", ")} } from ${JSON.stringify(from)};`);
  // Examples of errors show how they are caught, and leave out what threw.
  const before = code.startsWith("catch") ? " try {}" : "";
  return `${[...head, "export {};"].join(" ")}${before}\n${code}`;
}

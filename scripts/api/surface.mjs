// What a package shows to those who import it: the names of its entry points, each with its declaration. Read from the
// declarations that the compiler emits, so that inferred types are there, and by their syntax alone, so that it is fast.
import { readFileSync } from "node:fs";
import path from "node:path";
import ts from "@typescript/typescript6";

/**
 * @typedef {object} PublicName
 * @property {string} name
 * @property {boolean} exported   false for a base whose members an exported class or interface inherits
 * @property {string} text        its declaration without comments and without private members
 * @property {string[]} docs      its doc comments as they stand in the source, outermost first; of members too
 * @property {boolean} documented whether it has a doc comment of its own
 * @property {string} file        the emitted declaration that has it
 */

/**
 * @typedef {object} Surface
 * @property {string} entry         what to import: `lotse/client`
 * @property {PublicName[]} names   by name
 * @property {{ name: string, from: string }[]} borrowed  what comes from another package; name `*` is everything
 */

/**
 * @param {{ name: string, folder: string, entries: { subpath?: string, source: string, types?: string }[] }} pkg
 * @param {string} emitted the folder with the emitted declarations of all packages
 * @returns {Surface[]}
 */
export function surfacesOf(pkg, emitted) {
  const modules = new Modules();
  return pkg.entries
    .filter((entry) => entry.types !== undefined)
    .map((entry) => {
      const exported = modules.exportsOf(path.join(emitted, pkg.folder, declarationOf(entry.source)));
      const names = [];
      const borrowed = exported.everythingOf.map((from) => ({ name: "*", from }));
      for (const [name, target] of exported.names) {
        if (target.from !== undefined) borrowed.push({ name, from: target.from });
        else names.push({ name, exported: true, ...describe(name, target, modules) });
      }
      const own = new Set([...exported.names.values()].flatMap(({ nodes = [] }) => nodes));
      for (const { name, target } of modules.basesOf([...exported.names.values()], own)) {
        const base = describe(name, target, modules);
        names.push({
          name,
          exported: false,
          ...base,
          text: `// not exported by its name\n${base.text}`,
          documented: true,
        });
      }
      return { entry: pkg.name + entry.subpath.slice(1), names: names.sort(byName), borrowed: borrowed.sort(byName) };
    });
}

const byName = (a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0);

/** Where the compiler puts the declarations of a source. */
export const declarationOf = (source) => source.replace(/(\.d)?\.[cm]?tsx?$/, ".d.ts");

/** Reads declaration files and follows their exports to where each name is declared. */
class Modules {
  #files = new Map();
  #exports = new Map();

  file(name) {
    if (!this.#files.has(name)) {
      this.#files.set(name, ts.createSourceFile(name, readFileSync(name, "utf8"), ts.ScriptTarget.Latest, true));
    }
    return this.#files.get(name);
  }

  /** @returns {{ names: Map<string, object>, everythingOf: string[] }} */
  exportsOf(name) {
    const known = this.#exports.get(name);
    if (known !== undefined) return known;
    const found = { names: new Map(), everythingOf: [] };
    this.#exports.set(name, found);
    const source = this.file(name);
    for (const statement of source.statements) {
      if (ts.isExportDeclaration(statement)) this.#reexports(name, statement, found);
      else if (isExported(statement)) {
        for (const declared of namesOf(statement)) this.#add(found, declared, { file: name, nodes: [statement] });
      }
    }
    return found;
  }

  #add(found, name, target) {
    const before = found.names.get(name);
    // Overloads, and a type beside a value of the same name, are declared in several statements of one file.
    if (before?.file === target.file && before?.nodes && target.nodes) before.nodes.push(...target.nodes);
    else found.names.set(name, target);
  }

  #reexports(name, statement, found) {
    const specifier = statement.moduleSpecifier?.text;
    const clause = statement.exportClause;
    if (clause !== undefined && ts.isNamespaceExport(clause)) {
      found.names.set(clause.name.text, { file: name, namespace: this.#resolve(name, specifier) });
    } else if (clause === undefined) {
      if (!specifier.startsWith(".")) found.everythingOf.push(specifier);
      else {
        const all = this.exportsOf(this.#resolve(name, specifier));
        for (const [one, target] of all.names) if (one !== "default") found.names.set(one, target);
        found.everythingOf.push(...all.everythingOf);
      }
    } else {
      for (const element of clause.elements) {
        const original = (element.propertyName ?? element.name).text;
        found.names.set(
          element.name.text,
          specifier === undefined ? this.#local(name, original) : this.#imported(name, specifier, original),
        );
      }
    }
  }

  #imported(name, specifier, original) {
    if (!specifier.startsWith(".")) return { from: specifier };
    const target = this.exportsOf(this.#resolve(name, specifier)).names.get(original);
    if (target === undefined) throw new Error(`${name} exports ${original} of ${specifier}, which has no such name`);
    return target;
  }

  /** A name that a file exports after it has declared or imported it. */
  #local(name, original, { orUndefined = false } = {}) {
    const nodes = [];
    for (const statement of this.file(name).statements) {
      if (namesOf(statement).includes(original)) nodes.push(statement);
      const bindings = ts.isImportDeclaration(statement) ? statement.importClause?.namedBindings : undefined;
      if (bindings === undefined) continue;
      const specifier = statement.moduleSpecifier.text;
      if (ts.isNamespaceImport(bindings)) {
        if (bindings.name.text === original) return { file: name, namespace: this.#resolve(name, specifier) };
        continue;
      }
      for (const element of bindings.elements) {
        if (element.name.text !== original) continue;
        return this.#imported(name, specifier, (element.propertyName ?? element.name).text);
      }
    }
    if (nodes.length === 0 && orUndefined) return undefined;
    if (nodes.length === 0) throw new Error(`${name} exports ${original}, which it neither declares nor imports`);
    return { file: name, nodes };
  }

  /** What exported classes and interfaces extend and inherit members from, unless that is exported itself. */
  basesOf(targets, own) {
    const found = [];
    const seen = new Set(own);
    const queue = [...targets];
    for (const { file, nodes = [] } of queue) {
      for (const name of nodes.flatMap((node) => basesIn(node))) {
        const target = this.#local(file, name, { orUndefined: true });
        if (target?.nodes === undefined || target.nodes.some((node) => seen.has(node))) continue;
        for (const node of target.nodes) seen.add(node);
        found.push({ name, target });
        queue.push(target);
      }
    }
    return found;
  }

  #resolve(from, specifier) {
    return path.resolve(path.dirname(from), specifier.replace(/((\.d)?\.[cm]?[jt]sx?)?$/, ".d.ts"));
  }
}

/** The names after `extends`, also inside of `Omit<…>` and its like. */
function basesIn(node) {
  const names = [];
  const visit = (one) => {
    if (ts.isIdentifier(one)) names.push(one.text);
    ts.forEachChild(one, visit);
  };
  for (const clause of node.heritageClauses ?? []) {
    if (clause.token === ts.SyntaxKind.ExtendsKeyword) ts.forEachChild(clause, visit);
  }
  return names;
}

const isExported = (statement) =>
  ts.canHaveModifiers(statement) &&
  (ts.getModifiers(statement) ?? []).some((modifier) => modifier.kind === ts.SyntaxKind.ExportKeyword);

function namesOf(statement) {
  if (ts.isVariableStatement(statement)) return statement.declarationList.declarations.map(({ name }) => name.text);
  return statement.name !== undefined && ts.isIdentifier(statement.name) ? [statement.name.text] : [];
}

const printer = ts.createPrinter({ removeComments: true });

function describe(name, target, modules) {
  if (target.namespace !== undefined) {
    const types = [...modules.exportsOf(target.namespace).names.keys()].sort();
    return {
      text: wrapped(`namespace ${name}: ${types.join(", ")}`),
      docs: [],
      // Types of Kubernetes' own, written by scripts/tables, where Kubernetes' documentation is the documentation.
      documented: true,
      file: target.file,
    };
  }
  const source = modules.file(target.file);
  return {
    text: target.nodes.map((node) => printer.printNode(ts.EmitHint.Unspecified, bare(node), source)).join("\n"),
    docs: target.nodes.flatMap((node) => docsIn(node)),
    documented: target.nodes.some((node) => (node.jsDoc ?? []).length > 0),
    file: target.file,
  };
}

/** A declaration as a reader has to know it: without `export declare`, and without what is private. */
function bare(node) {
  const keep = (ts.getModifiers(node) ?? []).filter(
    ({ kind }) => kind !== ts.SyntaxKind.ExportKeyword && kind !== ts.SyntaxKind.DeclareKeyword,
  );
  const { factory } = ts;
  if (ts.isClassDeclaration(node)) {
    const members = node.members.filter((member) => !isPrivate(member));
    return factory.updateClassDeclaration(
      node,
      keep,
      node.name,
      node.typeParameters,
      node.heritageClauses,
      factory.createNodeArray(members),
    );
  }
  if (ts.isInterfaceDeclaration(node)) {
    return factory.updateInterfaceDeclaration(
      node,
      keep,
      node.name,
      node.typeParameters,
      node.heritageClauses,
      node.members,
    );
  }
  if (ts.isTypeAliasDeclaration(node)) {
    return factory.updateTypeAliasDeclaration(node, keep, node.name, node.typeParameters, node.type);
  }
  if (ts.isFunctionDeclaration(node)) {
    return factory.updateFunctionDeclaration(
      node,
      keep,
      node.asteriskToken,
      node.name,
      node.typeParameters,
      node.parameters,
      node.type,
      node.body,
    );
  }
  return ts.isVariableStatement(node) ? factory.updateVariableStatement(node, keep, node.declarationList) : node;
}

const isPrivate = (member) =>
  (member.name !== undefined && ts.isPrivateIdentifier(member.name)) ||
  (ts.canHaveModifiers(member) && ts.getModifiers(member)?.some(({ kind }) => kind === ts.SyntaxKind.PrivateKeyword));

/** The doc comments of a declaration and of everything in it that a user can reach. */
function docsIn(node) {
  const found = (node.jsDoc ?? []).map((doc) => doc.getText());
  ts.forEachChild(node, (child) => {
    if (!ts.isClassElement(child) || !isPrivate(child)) found.push(...docsIn(child));
  });
  return found;
}

/** A long line cut at its spaces, with the rest indented. */
function wrapped(line, width = 120) {
  const lines = [""];
  for (const word of line.split(" ")) {
    if (lines.at(-1).length + word.length + 1 > width) lines.push("   ");
    lines[lines.length - 1] += (lines.at(-1) === "" ? "" : " ") + word;
  }
  return lines.join("\n");
}

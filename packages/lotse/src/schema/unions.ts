/**
 * Unions as a CRD can say them. A structural schema has one type at each node and the fields of all branches in one
 * object; what tells the branches apart stands in `anyOf` or `oneOf`, as checks alone, and where those cannot say it, in
 * rules.
 */
import { deepEqual, isObject } from "@lotse/client/meta";
import { celField, celLiteral } from "./cel-text.ts";
import { checksOf, ONE_TYPE, rulesOf } from "./keywords.ts";
import { AS_A_RULE, PRESERVE, RULES, type SchemaGap, type SchemaNode } from "./node.ts";

/** A union whose branches are structural already. */
export interface Union {
  /** What is said of the union itself. */
  readonly outer: SchemaNode;
  readonly branches: readonly SchemaNode[];
  /** Whether a value may be of one branch only. */
  readonly exclusive: boolean;
  /** Those of the branches that take no fields but their own. */
  readonly closed: ReadonlySet<SchemaNode>;
  readonly path: string;
}

/** The structural form of a union of at least two branches. */
export function fromBranches(union: Union, gaps: SchemaGap[]): SchemaNode {
  const { outer, branches, path } = union;
  const [first] = branches;
  if (first && branches.every((branch) => deepEqual(branch, first))) return { ...first, ...outer };
  const types = new Set(branches.map(typeOf));
  if (types.has(INT_OR_STRING) || (types.size === 2 && types.has("integer") && types.has("string"))) {
    if ([...types].every((type) => [INT_OR_STRING, "integer", "string"].includes(String(type)))) {
      return intOrString(union, gaps);
    }
  }
  const [type] = types;
  if (types.size !== 1 || type === undefined) {
    const names = [...types].map((one) => (one === undefined ? "anything" : String(one))).join(" or ");
    gaps.push({ path, what: `it is ${names}, which a CRD cannot say: anything is taken`, todo: ONE_TYPE });
    return { ...outer, [PRESERVE]: true };
  }
  if (branches.every((branch) => deepEqual(Object.keys(checksOf(branch)), ["enum"]))) {
    return { ...outer, type, enum: [...new Set(branches.flatMap(({ enum: values }) => values as unknown[]))] };
  }
  return type === "object" ? ofObjects(union, gaps) : ofOthers(union, gaps);
}

const INT_OR_STRING = "x-kubernetes-int-or-string";

function typeOf(node: SchemaNode): unknown {
  return node[INT_OR_STRING] === true ? INT_OR_STRING : node.type;
}

/** Each check of a number passes over texts, and the other way round: they may stand beside each other. */
function intOrString({ outer, branches, path }: Union, gaps: SchemaGap[]): SchemaNode {
  const checks = branches.map(checksOf);
  const keys = checks.flatMap((one) => Object.keys(one));
  const mixed = keys.some((key) => key === "enum") || new Set(keys).size < keys.length;
  if (mixed) {
    const what = "it is a whole number or a text, and what else is said of each is not checked";
    gaps.push({ path, what, todo: AS_A_RULE });
  }
  return { ...(mixed ? {} : Object.assign({}, ...checks)), ...outer, [INT_OR_STRING]: true };
}

/** Texts, numbers, lists: one type, and a check for each branch. */
function ofOthers({ outer, branches, exclusive, path }: Union, gaps: SchemaGap[]): SchemaNode {
  const found: SchemaGap[] = [];
  const merged = branches.reduce((a, b) => merge(a, b, path, found));
  gaps.push(...found);
  const checks = branches.map((one) => beyond(one, merged));
  return { ...merged, ...outer, ...choice(exclusive && found.length === 0, checks) };
}

/** One object with the fields of all branches, and checks that tell them apart. */
function ofObjects(union: Union, gaps: SchemaGap[]): SchemaNode {
  const { outer, branches, exclusive, closed, path } = union;
  const found: SchemaGap[] = [];
  const conditions = conditionsOf(branches);
  // In lists and maps of any size the API server would find a rule too dear that its author did not write.
  const ruled = conditions !== undefined && !/\[\]|\.\*/.test(path);
  const rules: SchemaNode[] = [];
  const plain = branches.map(({ [RULES]: _rules, ...branch }) => branch);
  const merged = plain.reduce((a, b) => merge(a, b, path, found, ruled));
  for (const [i, branch] of branches.entries()) {
    const own = [...rulesOf(branch), ...typeRules(branch, merged)];
    if (own.length > 0 && !conditions) {
      gaps.push({ path, what: "a rule of one branch of the union is not checked", todo: ONE_FIELD });
    } else for (const one of own) rules.push({ ...one, rule: `!(${conditions?.[i]}) || (${one.rule as string})` });
  }
  const checks = branches.map((branch, i) => {
    const difference = beyond(plain[i] as SchemaNode, merged);
    const foreign = Object.keys(fieldsOf(merged)).filter((name) => !Object.hasOwn(fieldsOf(branch), name));
    if (!closed.has(branch) || foreign.length === 0) return difference;
    return { ...difference, not: { anyOf: foreign.map((name) => ({ required: [name] })) } };
  });
  gaps.push(...found);
  const all = [...rules, ...rulesOf(outer)];
  // Where a value decides which branch it is, no two can hold; else it must be said.
  const alone = exclusive && conditions === undefined;
  if (alone && found.length > 0) {
    gaps.push({ path, what: "several of the union's branches may hold at the same time", todo: ONE_FIELD });
  }
  return {
    ...merged,
    ...outer,
    ...choice(alone && found.length === 0, checks),
    ...(all.length > 0 && { [RULES]: all }),
  };
}

/** Where one of several branches checks nothing, nothing is checked. */
function choice(exclusive: boolean, checks: readonly SchemaNode[]): SchemaNode {
  if (exclusive) return { oneOf: checks };
  return checks.some((one) => Object.keys(one).length === 0) ? {} : { anyOf: checks };
}

const ONE_FIELD = "let a field with a fixed value tell the branches apart: z.discriminatedUnion(…)";

/** In CEL, for each branch: whether an object is of it. Undefined where no field with fixed values tells. */
function conditionsOf(branches: readonly SchemaNode[]): string[] | undefined {
  const [first] = branches;
  const name = Object.keys(first ? fieldsOf(first) : {}).find((field) => {
    const values = branches.map((branch) => fieldsOf(branch)[field]?.enum);
    const required = branches.every((branch) => Array.isArray(branch.required) && branch.required.includes(field));
    const all = values.flatMap((list) => (Array.isArray(list) ? list : [undefined]));
    return required && !all.includes(undefined) && new Set(all).size === all.length;
  });
  const field = name === undefined ? undefined : celField(name);
  if (name === undefined || field === undefined) return undefined;
  return branches.map((branch) => {
    const values = fieldsOf(branch)[name]?.enum as unknown[];
    return `self.${field} in [${values.map(celLiteral).join(", ")}]`;
  });
}

/** Where a field is a number in one branch and a text in another, its type is said by a rule. */
function typeRules(branch: SchemaNode, merged: SchemaNode): SchemaNode[] {
  return Object.entries(fieldsOf(branch)).flatMap(([name, { type }]) => {
    const field = celField(name);
    if (type === undefined || fieldsOf(merged)[name]?.[INT_OR_STRING] !== true || field === undefined) return [];
    const wanted = type === "integer" ? "int" : "string";
    const rule = `!has(self.${field}) || type(self.${field}) == ${wanted}`;
    return [{ rule, message: `${name} must be ${type === "integer" ? "a whole number" : "a text"} here` }];
  });
}

function fieldsOf(node: SchemaNode): Readonly<Record<string, SchemaNode>> {
  return isObject(node.properties) ? (node.properties as Record<string, SchemaNode>) : {};
}

/** What two schemas of the same place have in common: the type, all fields, and the checks on which they agree. */
function merge(a: SchemaNode, b: SchemaNode, path: string, gaps: SchemaGap[], ruled = false): SchemaNode {
  if (deepEqual(a, b)) return a;
  const gap = (what: string, todo = "give it the same schema in each, or another name") =>
    gaps.push({ path, what, todo });
  if (typeOf(a) !== typeOf(b)) {
    const types = new Set([typeOf(a), typeOf(b)]);
    if (ruled && [...types].every((one) => one === INT_OR_STRING || one === "integer" || one === "string")) {
      return { [INT_OR_STRING]: true };
    }
    gap("it is something else in each branch of the union: anything is taken");
    return { [PRESERVE]: true };
  }
  const merged: SchemaNode = {};
  for (const key of Object.keys(a)) if (deepEqual(a[key], b[key]) && !PARTS.has(key)) merged[key] = a[key];
  if (Array.isArray(a.enum) && Array.isArray(b.enum)) merged.enum = [...new Set([...a.enum, ...b.enum])];
  if (a.nullable === true || b.nullable === true) merged.nullable = true;
  if (a[PRESERVE] === true || b[PRESERVE] === true) merged[PRESERVE] = true;
  const lost = ["default", RULES]
    .filter((key) => a[key] !== undefined || b[key] !== undefined)
    .filter((key) => !(key in merged));
  if (lost.length > 0)
    gap(
      `its ${lost.map((key) => (key === RULES ? "rules" : key)).join(" and ")} differ between the branches of the union and are left out`,
    );
  if (a.items !== undefined && b.items !== undefined) {
    merged.items = merge(a.items as SchemaNode, b.items as SchemaNode, `${path}[]`, gaps);
  }
  return a.type === "object" ? { ...merged, ...mergeFields(a, b, path, gaps, ruled) } : merged;
}

const PARTS = new Set(["properties", "required", "items", "additionalProperties", "anyOf", "oneOf", "allOf", "not"]);

function mergeFields(a: SchemaNode, b: SchemaNode, path: string, gaps: SchemaGap[], ruled: boolean): SchemaNode {
  const maps = [a, b].filter((one) => one.additionalProperties !== undefined);
  const [properties, others] = [fieldsOf(a), fieldsOf(b)];
  if (maps.length === 2 && isObject(a.additionalProperties) && isObject(b.additionalProperties)) {
    const values = merge(a.additionalProperties as SchemaNode, b.additionalProperties as SchemaNode, `${path}.*`, gaps);
    if (!deepEqual(values, a.additionalProperties) || !deepEqual(values, b.additionalProperties)) {
      gaps.push({
        path: `${path}.*`,
        what: "its checks differ between the branches of the union and are left out",
        todo: AS_A_RULE,
      });
    }
    return { additionalProperties: values };
  }
  const fields: Record<string, SchemaNode> = { ...properties };
  for (const [name, child] of Object.entries(others)) {
    const known = fields[name];
    fields[name] = known ? merge(known, child, `${path}.${name}`, gaps, ruled) : child;
  }
  if (maps.length > 0) {
    gaps.push({
      path,
      what: "a map in one branch of the union: its values are not checked",
      todo: "give it a field of its own",
    });
  }
  const required = listOf(a.required).filter((name) => listOf(b.required).includes(name));
  return {
    ...(Object.keys(fields).length > 0 && { properties: fields }),
    ...(required.length > 0 && { required }),
    ...(maps.length > 0 && { [PRESERVE]: true }),
  };
}

/** What a branch checks beyond what all of them have in common. */
function beyond(node: SchemaNode, common: SchemaNode): SchemaNode {
  // Of what may be anything, nothing can be said.
  if (typeOf(node) !== typeOf(common) && common[INT_OR_STRING] !== true) return {};
  const own: SchemaNode = {};
  const checks = { ...checksOf(node), ...pick(node, ["anyOf", "oneOf", "allOf", "not"]) };
  for (const [key, value] of Object.entries(checks)) if (!deepEqual(value, common[key])) own[key] = value;
  const fields = Object.entries(fieldsOf(node)).flatMap(([name, child]): [string, SchemaNode][] => {
    const shared = fieldsOf(common)[name];
    const more = shared ? beyond(child, shared) : {};
    return Object.keys(more).length > 0 ? [[name, more]] : [];
  });
  if (fields.length > 0) own.properties = Object.fromEntries(fields);
  const required = listOf(node.required).filter((name) => !listOf(common.required).includes(name));
  if (required.length > 0) own.required = required;
  if (isObject(node.items) && isObject(common.items)) {
    const items = beyond(node.items as SchemaNode, common.items as SchemaNode);
    if (Object.keys(items).length > 0) own.items = items;
  }
  return own;
}

function pick(node: SchemaNode, keys: readonly string[]): SchemaNode {
  return Object.fromEntries(keys.flatMap((key) => (node[key] === undefined ? [] : [[key, node[key]]])));
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

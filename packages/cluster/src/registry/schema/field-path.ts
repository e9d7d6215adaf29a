import type { Schema } from "./types.ts";

/**
 * Reads a path as rules and selectable fields write it (`.spec.size`, `['a.b']`), checks that it leads to a field of
 * the schema, and gives its normal form and the schema there; an error's text when it does not.
 */
export function schemaFieldPath(
  text: string,
  root: Schema,
  options: { readonly brackets?: boolean } = {},
): { readonly path: string; readonly schema: Schema } | { readonly error: string } {
  let schema = root;
  let path = "";
  const tokens = text.match(/'(?:\\.|[^'\\])*'|[.[\]]|[^.[\]']+|'/g) ?? [];
  const step = (name: string): string | undefined => {
    if (schema.properties) {
      const next = Object.hasOwn(schema.properties, name) ? schema.properties[name] : undefined;
      if (!next) return "does not refer to a valid field";
      path = path === "" ? name : `${path}.${name}`;
      schema = next;
      return undefined;
    }
    if (typeof schema.additionalProperties !== "object") return "does not refer to a valid field";
    path = `${path}[${name}]`;
    schema = schema.additionalProperties;
    return undefined;
  };
  for (let i = 0; i < tokens.length; i++) {
    const token = tokens[i] as string;
    let problem: string | undefined;
    if (token === ".") {
      const name = tokens[++i];
      problem = name === undefined ? "unexpected end of JSON path" : step(name);
    } else if (token === "[") {
      if (options.brackets === false) return { error: "array notation is not allowed" };
      const name = tokens[++i];
      if (name === undefined) return { error: "unexpected end of JSON path" };
      if (name.length < 2 || !name.startsWith("'")) return { error: `expected single quoted string but got ${name}` };
      problem = step(name.slice(1, -1).replace(/\\(.)/g, "$1"));
      if (problem === undefined) {
        const close = tokens[++i];
        if (close === undefined) problem = "unexpected end of JSON path";
        else if (close !== "]") problem = `expected ] but got ${close}`;
      }
    } else {
      problem = `expected [ or . but got: ${token}`;
    }
    if (problem !== undefined) return { error: problem };
  }
  return { path, schema };
}

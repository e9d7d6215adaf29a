// What the .proto files do not say about a field: its JSON name, whether it is a pointer in Go (an absent value differs
// from a zero), whether its zero is written to JSON, and whether its own fields stand in the parent's JSON.

/**
 * @typedef {object} GoField
 * @property {string | undefined} json undefined when the field is inlined or never written to JSON
 * @property {boolean} inline
 * @property {boolean} pointer
 * @property {boolean} omitEmpty
 *
 * @typedef {object} GoTypes
 * @property {Map<string, Map<number, GoField>>} structs type name → protobuf number → field
 * @property {Set<string>} lists names of types that are lists
 */

/**
 * @param {string} text one or more Go files, formatted by gofmt
 * @returns {GoTypes}
 */
export function parseGoTypes(text) {
  /** @type {GoTypes} */
  const types = { structs: new Map(), lists: new Set() };
  let fields = /** @type {Map<number, GoField> | undefined} */ (undefined);
  for (const line of text.split("\n")) {
    const struct = /^type (\w+) struct \{$/.exec(line);
    if (struct?.[1] !== undefined) {
      fields = new Map();
      types.structs.set(struct[1], fields);
      continue;
    }
    const list = /^type (\w+) \[\]/.exec(line);
    if (list?.[1] !== undefined) types.lists.add(list[1]);
    if (line === "}") fields = undefined;
    if (fields === undefined) continue;
    const [number, field] = parseField(line) ?? [];
    if (number !== undefined && field !== undefined) fields.set(number, field);
  }
  return types;
}

/**
 * @param {string} line
 * @returns {[number: number, field: GoField] | undefined}
 */
function parseField(line) {
  const parts = /^\t(?:\w+\s+)?(\*?)[^`/]*`(.*)`/.exec(line);
  const number = /protobuf:"\w+,(\d+)/.exec(parts?.[2] ?? "")?.[1];
  if (parts === null || number === undefined) return undefined;
  const [name = "", ...options] = (/json:"([^"]*)"/.exec(parts[2] ?? "")?.[1] ?? "").split(",");
  return [
    Number(number),
    {
      json: name === "" || name === "-" ? undefined : name,
      inline: options.includes("inline"),
      pointer: parts[1] === "*",
      omitEmpty: options.includes("omitempty") || options.includes("omitzero"),
    },
  ];
}

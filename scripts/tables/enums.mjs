// Enumerations: a running server puts them in its OpenAPI documents, the recorded documents leave them out. They come
// from the Go code that the server builds its documents with.

/**
 * @typedef {object} EnumFact
 * @property {string} component
 * @property {string} property
 * @property {boolean} element the values are those of the list's or map's elements
 * @property {string[]} values
 */

const FILE = "pkg/generated/openapi/zz_generated.openapi.go";

/** @type {[prefix: string, component: (group: string) => string][]} */
const PACKAGES = [
  ["k8sio_api_", (group) => `io.k8s.api.${group}`],
  ["pkg_apis_apiextensions", () => "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions"],
  ["pkg_apis_apiregistration", () => "io.k8s.kube-aggregator.pkg.apis.apiregistration"],
  ["pkg_apis_meta", () => "io.k8s.apimachinery.pkg.apis.meta"],
];

/**
 * The file is formatted by gofmt, so a line's indentation is its depth: five tabs before a property of the type, seven
 * before the property's own keywords, more before those of its elements.
 * @param {import("./sources.mjs").Sources} sources
 * @returns {EnumFact[]}
 */
export function readEnums(sources) {
  /** @type {EnumFact[]} */
  const facts = [];
  let component = /** @type {string | undefined} */ (undefined);
  let property = "";
  for (const line of sources.text("kubernetes", FILE).split("\n")) {
    const start = /^func schema_(\w+)_(v\d\w*?)_(\w+)\(/.exec(line);
    if (start) component = componentOf(start[1] ?? "", start[2] ?? "", start[3] ?? "");
    const key = /^\t{5}"([^"]+)": \{$/.exec(line);
    if (key) property = key[1] ?? "";
    const values = /^(\t+)Enum:\s*\[\]interface\{\}\{(.*)\},$/.exec(line);
    if (values && component !== undefined) {
      const depth = (values[1] ?? "").length;
      facts.push({ component, property, element: depth > 7, values: JSON.parse(`[${values[2]}]`) });
    }
  }
  if (facts.length === 0) throw new Error(`No enumeration found in ${FILE}: its form must have changed`);
  return facts;
}

/**
 * @param {string} path
 * @param {string} version
 * @param {string} type
 */
function componentOf(path, version, type) {
  const found = PACKAGES.find(([prefix]) => path.startsWith(prefix));
  return found && `${found[1](path.slice(found[0].length))}.${version}.${type}`;
}

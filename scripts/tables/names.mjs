// Short names of packages: "core.v1" for "io.k8s.api.core.v1", the same in every table.

/** Longest first. */
const PREFIXES = /** @type {const} */ ([
  ["io.k8s.apiextensions-apiserver.pkg.apis.", ""],
  ["io.k8s.kube-aggregator.pkg.apis.", ""],
  ["io.k8s.apimachinery.pkg.apis.", ""],
  ["io.k8s.apimachinery.pkg.", "pkg."],
  ["io.k8s.api.", ""],
]);

/**
 * @param {string} component such as "io.k8s.api.core.v1.Pod"
 * @returns {{ package: string; type: string }}
 */
export function splitName(component) {
  const dot = component.lastIndexOf(".");
  return { package: component.slice(0, dot), type: component.slice(dot + 1) };
}

/**
 * @param {string} fullPackage
 * @returns {string}
 */
export function shortPackage(fullPackage) {
  const found = PREFIXES.find(([prefix]) => fullPackage.startsWith(prefix));
  if (found === undefined) throw new Error(`No short name for the package ${fullPackage}`);
  return found[1] + fullPackage.slice(found[0].length);
}

/**
 * @param {string} component
 * @returns {string} such as "core.v1.Pod"
 */
export function shortName(component) {
  const name = splitName(component);
  return `${shortPackage(name.package)}.${name.type}`;
}

/**
 * Lines "<short package> <full package>", the key to all short names of a table.
 * @param {Iterable<string>} components
 */
export function packageLines(components) {
  const packages = [...new Set([...components].map((name) => splitName(name).package))].sort();
  const lines = packages.map((full) => `${shortPackage(full)} ${full}`);
  if (new Set(packages.map(shortPackage)).size !== packages.length) throw new Error("Two packages share a short name");
  return lines;
}

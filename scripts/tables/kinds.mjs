// The kinds that a server serves, from its recorded discovery documents.

/**
 * @typedef {object} Subresource
 * @property {string} name
 * @property {string} group
 * @property {string} version
 * @property {string} kind
 * @property {string[]} verbs
 *
 * @typedef {object} Kind
 * @property {string} group
 * @property {string} version
 * @property {boolean} preferred
 * @property {string} kind
 * @property {string} plural
 * @property {string} singular
 * @property {boolean} namespaced
 * @property {string[]} shortNames
 * @property {string[]} categories
 * @property {string[]} verbs
 * @property {Subresource[]} subresources
 */

/** Groups that no client of an operator ever talks to. */
const SKIPPED_GROUPS = new Set(["internal.apiserver.k8s.io", "storagemigration.k8s.io"]);

const STABLE_VERSION = /^v\d+$/;

/** One letter for each verb of discovery; their order here is the order in which a server lists them. */
const VERB_LETTERS = {
  create: "c",
  delete: "d",
  deletecollection: "x",
  get: "g",
  list: "l",
  patch: "p",
  update: "u",
  watch: "w",
};

/**
 * @param {import("./sources.mjs").Sources} sources
 * @returns {Kind[]} in the order of the server's discovery: the core group, then the groups by priority
 */
export function readKinds(sources) {
  return [
    ...coreKinds(sources.json("kubernetes", "api/discovery/api__v1.json")),
    ...groupKinds(sources.json("kubernetes", "api/discovery/aggregated_v2.json")),
  ];
}

/**
 * The core group is recorded in the older form only: one flat list where "pods/status" follows "pods".
 * @param {any} list an APIResourceList
 * @returns {Kind[]}
 */
function coreKinds(list) {
  /** @type {Map<string, Kind>} */
  const kinds = new Map();
  for (const resource of list.resources) {
    const [plural, subresource] = resource.name.split("/");
    const group = resource.group ?? "";
    const version = resource.version ?? "v1";
    if (subresource === undefined) {
      kinds.set(plural, {
        group,
        version,
        preferred: true,
        kind: resource.kind,
        plural,
        singular: resource.singularName,
        namespaced: resource.namespaced,
        shortNames: resource.shortNames ?? [],
        categories: resource.categories ?? [],
        verbs: resource.verbs,
        subresources: [],
      });
      continue;
    }
    const parent = kinds.get(plural);
    if (parent === undefined) throw new Error(`Discovery lists ${resource.name} before ${plural}`);
    parent.subresources.push({ name: subresource, group, version, kind: resource.kind, verbs: resource.verbs });
  }
  return [...kinds.values()];
}

/**
 * @param {any} list an APIGroupDiscoveryList
 * @returns {Kind[]}
 */
function groupKinds(list) {
  /** @type {Kind[]} */
  const kinds = [];
  for (const item of list.items) {
    const group = item.metadata.name;
    if (SKIPPED_GROUPS.has(group)) continue;
    for (const [index, { version, resources }] of item.versions.entries()) {
      if (!STABLE_VERSION.test(version)) continue;
      for (const resource of resources) {
        kinds.push({
          group,
          version,
          preferred: index === 0,
          kind: resource.responseKind.kind,
          plural: resource.resource,
          singular: resource.singularResource,
          namespaced: resource.scope === "Namespaced",
          shortNames: resource.shortNames ?? [],
          categories: resource.categories ?? [],
          verbs: resource.verbs,
          subresources: (resource.subresources ?? []).map((/** @type {any} */ sub) => ({
            name: sub.subresource,
            // An empty group and version in discovery mean: those of the resource itself.
            group: sub.responseKind.version === "" ? group : sub.responseKind.group,
            version: sub.responseKind.version === "" ? version : sub.responseKind.version,
            kind: sub.responseKind.kind,
            verbs: sub.verbs,
          })),
        });
      }
    }
  }
  return kinds;
}

/**
 * One line for each kind, its columns parted by blanks; "-" stands for nothing. The reader is the door of the tables.
 * @param {Kind[]} kinds
 */
export function encodeKinds(kinds) {
  return kinds.map((kind) =>
    [
      kind.group || "-",
      kind.version + (kind.preferred ? "*" : ""),
      kind.kind,
      kind.plural,
      kind.singular,
      kind.namespaced ? "N" : "C",
      kind.shortNames.join(",") || "-",
      kind.categories.join(",") || "-",
      encodeVerbs(kind.verbs),
      kind.subresources.map((sub) => encodeSubresource(sub, kind)).join(",") || "-",
    ].join(" "),
  );
}

/**
 * @param {Subresource} sub
 * @param {Kind} parent
 */
function encodeSubresource(sub, parent) {
  const ownGroup = sub.group === parent.group && sub.version === parent.version;
  const type = ownGroup ? (sub.kind === parent.kind ? "" : `:${sub.kind}`) : `:${sub.group}/${sub.version}/${sub.kind}`;
  return `${sub.name}:${encodeVerbs(sub.verbs)}${type}`;
}

/** @param {string[]} verbs */
function encodeVerbs(verbs) {
  const text = Object.entries(VERB_LETTERS)
    .filter(([verb]) => verbs.includes(verb))
    .map(([, letter]) => letter)
    .join("");
  if (text.length !== verbs.length) throw new Error(`No letter for one of the verbs ${verbs.join(", ")}`);
  return text;
}

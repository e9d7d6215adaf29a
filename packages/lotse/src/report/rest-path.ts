/** What a request path says, without the names in it: there are as many names as objects, and few templates. */

/** A path of the API server. */
export interface RestPath {
  /** `/apis/apps/v1/namespaces/{namespace}/deployments/{name}/scale` */
  readonly template: string;
  /** `deployments.apps/scale`; undefined when the path is about no resource, such as discovery. */
  readonly resource: string | undefined;
  readonly namespace: string | undefined;
  readonly name: string | undefined;
}

/** Subresources of namespaces, which look like kinds in a namespace. */
const OF_NAMESPACES = new Set(["status", "finalize"]);

/** What a path of the API is about, without its query. */
export function readPath(path: string): RestPath {
  const words = path.split("?", 1)[0]?.split("/").filter(Boolean) ?? [];
  const root = words[0] === "api" ? 2 : words[0] === "apis" ? 3 : undefined;
  const group = root === 3 ? words[1] : "";
  if (root === undefined || words.length <= root) {
    return { template: `/${words.join("/")}`, resource: undefined, namespace: undefined, name: undefined };
  }
  const prefix = words.slice(0, root);
  let rest = words.slice(root);
  let namespace: string | undefined;
  if (rest[0] === "namespaces" && rest[2] !== undefined && !(rest.length === 3 && OF_NAMESPACES.has(rest[2]))) {
    namespace = decodeURIComponent(rest[1] ?? "");
    prefix.push("namespaces", "{namespace}");
    rest = rest.slice(2);
  }
  const [plural = "", name, subresource, ...tail] = rest;
  const named = name === undefined ? [] : ["{name}"];
  const below = subresource === undefined ? [] : [subresource];
  // What is behind a proxy has paths of its own, as many as it likes.
  const further = tail.length > 0 ? ["{path}"] : [];
  const resource = `${plural}${group === "" ? "" : `.${group}`}${subresource === undefined ? "" : `/${subresource}`}`;
  return {
    template: `/${[...prefix, plural, ...named, ...below, ...further].join("/")}`,
    resource,
    namespace,
    name: name === undefined ? undefined : decodeURIComponent(name),
  };
}

import { lookup } from "@lotse/client/meta";
import { apiVersionOf, type Catalog, type Endpoint, type Resource } from "../../registry/index.ts";
import type { ApiRequest, ApiResponse } from "../exchange.ts";
import { objectResponse, type Writing } from "../media/encode.ts";
import { negotiateDiscovery, notAcceptable } from "../media/negotiate.ts";
import { fingerprint } from "./hash.ts";
import { sha256 } from "./sha256.ts";

const JSON_WRITING: Writing = { pretty: false };

/** Tells clients what there is: the old way in many documents, the new way in two. */
export class Discovery {
  readonly #catalog: Catalog;

  constructor(catalog: Catalog) {
    this.#catalog = catalog;
  }

  /** The answer for `/api`, `/apis` and the paths of groups and versions; undefined when the path is none of these. */
  respond(request: ApiRequest, segments: readonly string[], writing: Writing): ApiResponse | undefined {
    const [root, first, second] = segments;
    if (root === "api") {
      if (segments.length === 1) return this.#root(request, writing, true);
      if (segments.length === 2 && this.#catalog.hasVersion("", first as string)) {
        return objectResponse(200, this.#resources("", first as string), writing);
      }
    } else if (root === "apis") {
      if (segments.length === 1) return this.#root(request, writing, false);
      const group = segments.length <= 3 ? this.#catalog.groups().find((known) => known.group === first) : undefined;
      if (group && group.group !== "") {
        if (segments.length === 2) {
          return objectResponse(
            200,
            { kind: "APIGroup", apiVersion: "v1", ...this.#group(group.group, group.versions) },
            writing,
          );
        }
        if (group.versions.includes(second as string)) {
          return objectResponse(200, this.#resources(group.group, second as string), writing);
        }
      }
    }
    return undefined;
  }

  #root(request: ApiRequest, writing: Writing, core: boolean): ApiResponse {
    const kind = negotiateDiscovery(request.headers.accept);
    if (kind === undefined) throw notAcceptable(request.headers.accept ?? "");
    if (kind === "v2") return this.#aggregated(request, kind, core);
    const document = core
      ? {
          kind: "APIVersions",
          versions: ["v1"],
          serverAddressByClientCIDRs: [{ clientCIDR: "0.0.0.0/0", serverAddress: request.host }],
        }
      : {
          kind: "APIGroupList",
          apiVersion: "v1",
          groups: this.#groups().map(({ group, versions }) => this.#group(group, versions)),
        };
    return objectResponse(200, document, writing, { vary: "Accept" });
  }

  #groups() {
    return this.#catalog.groups().filter(({ group }) => group !== "");
  }

  #group(group: string, versions: readonly string[]) {
    const entries = versions.map((version) => ({ groupVersion: apiVersionOf(group, version), version }));
    return { name: group, versions: entries, preferredVersion: entries[0] };
  }

  #resources(group: string, version: string) {
    const resources = this.#catalog.inVersion(group, version).flatMap((endpoint) => legacyEntries(endpoint));
    // The document of the core group is older than the rule that documents say their version.
    const typed = group === "" ? {} : { apiVersion: "v1" };
    return { kind: "APIResourceList", ...typed, groupVersion: apiVersionOf(group, version), resources };
  }

  #aggregated(request: ApiRequest, version: "v2", core: boolean): ApiResponse {
    const groups = core ? [{ group: "", versions: ["v1"] }] : this.#groups();
    const items = groups.map(({ group, versions }) => ({
      metadata: group === "" ? {} : { name: group },
      versions: versions.map((name) => ({
        version: name,
        resources: this.#catalog.inVersion(group, name).map(aggregatedEntry),
        freshness: "Current",
      })),
    }));
    const document = {
      kind: "APIGroupDiscoveryList",
      apiVersion: `apidiscovery.k8s.io/${version}`,
      metadata: {},
      items,
    };
    const response = objectResponse(200, document, JSON_WRITING, {
      "content-type": `application/json;g=apidiscovery.k8s.io;v=${version};as=APIGroupDiscoveryList`,
      "cache-control": "public",
      vary: "Accept",
    });
    const etag = `"${fingerprint(response.body)}"`;
    if (request.headers["if-none-match"] === etag)
      return { ...response, status: 304, headers: { etag, vary: "Accept", "cache-control": "public" }, body: "" };
    return { ...response, headers: { ...response.headers, etag } };
  }
}

function legacyEntries({ resource, version }: Endpoint): Record<string, unknown>[] {
  const names = resource.shortNames.length > 0 ? { shortNames: resource.shortNames } : {};
  const categories = resource.categories.length > 0 ? { categories: resource.categories } : {};
  const entries: Record<string, unknown>[] = [
    {
      name: resource.plural,
      singularName: resource.singular,
      namespaced: resource.namespaced,
      kind: resource.kind,
      verbs: version.verbs,
      ...names,
      ...categories,
      ...(isStored(resource, version) ? { storageVersionHash: storageVersionHash(resource) } : {}),
    },
  ];
  for (const sub of version.subresources) {
    const foreign = sub.group !== resource.group || sub.version !== version.version;
    entries.push({
      name: `${resource.plural}/${sub.name}`,
      singularName: "",
      namespaced: resource.namespaced,
      ...(foreign ? { group: sub.group, version: sub.version } : {}),
      kind: sub.kind,
      verbs: sub.verbs,
    });
  }
  return entries;
}

/** Not what is answered on the spot: reviews, and the states of components. */
function isStored(resource: Resource, version: Endpoint["version"]): boolean {
  return resource.table !== "" && version.verbs.includes("create");
}

/** Kinds that a real server keeps in another form than the one that this server keeps. */
const STORED_AS: Readonly<Record<string, string>> = {
  "apiextensions.k8s.io/CustomResourceDefinition": "apiextensions.k8s.io/v1beta1",
  "admissionregistration.k8s.io/MutatingAdmissionPolicy": "admissionregistration.k8s.io/v1beta1",
  "admissionregistration.k8s.io/MutatingAdmissionPolicyBinding": "admissionregistration.k8s.io/v1beta1",
  "events.k8s.io/Event": "/v1",
};

/** A short name for what is stored, by which clients notice that it changed. */
function storageVersionHash({ group, kind, storageVersion }: Resource): string {
  const stored = lookup(STORED_AS, `${group}/${kind}`) ?? `${group}/${storageVersion}`;
  const digest = sha256(`${stored}/${kind}`).subarray(0, 8);
  return btoa(String.fromCharCode(...digest));
}

function aggregatedEntry({ resource, version }: Endpoint): Record<string, unknown> {
  // Built-in kinds leave out what is the same as the group and version that they stand under.
  const kindOf = (group: string, name: string, kind: string) => {
    const own = group === resource.group && name === version.version && !resource.custom;
    return own ? { group: "", version: "", kind } : { group, version: name, kind };
  };
  return {
    resource: resource.plural,
    responseKind: kindOf(resource.group, version.version, resource.kind),
    scope: resource.namespaced ? "Namespaced" : "Cluster",
    singularResource: resource.singular,
    verbs: version.verbs,
    ...(resource.shortNames.length > 0 ? { shortNames: resource.shortNames } : {}),
    ...(resource.categories.length > 0 ? { categories: resource.categories } : {}),
    ...(version.subresources.length > 0
      ? {
          subresources: version.subresources.map((sub) => ({
            subresource: sub.name,
            responseKind: kindOf(sub.group, sub.version, sub.kind),
            verbs: sub.verbs,
          })),
        }
      : {}),
  };
}

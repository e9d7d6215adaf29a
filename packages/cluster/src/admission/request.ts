import {
  type AdmissionAttributes,
  type ApiObject,
  type Backend,
  convertObject,
  DecodeError,
  type Endpoint,
  forbidden,
  fromStore,
  gvkOf,
  internal,
  isRecord,
  type StatusError,
  toScale,
  withScale,
} from "../registry/index.ts";

/** What plugins look up about the cluster. */
export type AdmissionBackend = Pick<Backend, "store" | "catalog" | "clock" | "uuid">;

/** The namespace that a request counts as part of; a Namespace is part of itself. Empty for what is in none. */
export function namespaceOf({ endpoint, namespace, name }: AdmissionAttributes): string {
  return isNamespaces(endpoint) ? name : (namespace ?? "");
}

/** Whether a request is about namespaces themselves, which lie in none. */
export function isNamespaces({ resource }: Endpoint): boolean {
  return resource.group === "" && resource.plural === "namespaces";
}

/** The name to show for an object that may not have one yet. */
export function shownName({ name, object }: AdmissionAttributes): string {
  if (name !== "") return name;
  return object?.metadata?.name || object?.metadata?.generateName || "Unknown";
}

/** The refusal of a write by a plugin. */
export function refused(attributes: AdmissionAttributes, message: string): StatusError {
  return forbidden(attributes.endpoint.resource, shownName(attributes), message);
}

const CONFIGURATION: ReadonlySet<string> = new Set([
  "ValidatingWebhookConfiguration",
  "MutatingWebhookConfiguration",
  "ValidatingAdmissionPolicy",
  "ValidatingAdmissionPolicyBinding",
  "MutatingAdmissionPolicy",
  "MutatingAdmissionPolicyBinding",
]);

/** What configures admission is never subject to it: otherwise a mistake could not be taken back. */
export function isExempt({ endpoint: { resource } }: AdmissionAttributes): boolean {
  return resource.group === "admissionregistration.k8s.io" && CONFIGURATION.has(resource.kind);
}

/** A kind with its group and version, as reviews spell it. */
export interface GroupVersionKind {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
}

/** The kind of the objects that a request carries: that of the subresource where it has its own. */
export function kindOf(endpoint: Endpoint, subresource: string | undefined): GroupVersionKind {
  const below = subresource && endpoint.version.subresources.find((known) => known.name === subresource);
  if (below) return { group: below.group, version: below.version, kind: below.kind };
  return { group: endpoint.resource.group, version: endpoint.version.version, kind: endpoint.resource.kind };
}

const isScale = ({ version }: Endpoint, subresource: string | undefined): boolean =>
  subresource === "scale" && version.scale !== undefined;

/** Whether what is posted below an object is of a kind of its own, with only one version. */
function isOther(endpoint: Endpoint, subresource: string | undefined): boolean {
  const { group, kind } = kindOf(endpoint, subresource);
  return group !== endpoint.resource.group || kind !== endpoint.resource.kind;
}

/** An object as those see it who asked for it in this version; a Scale where the request is about one. */
export async function shownAs(
  { endpoint, subresource }: AdmissionAttributes,
  target: Endpoint,
  object: ApiObject | undefined,
): Promise<ApiObject | undefined> {
  if (object === undefined) return undefined;
  if (isScale(endpoint, subresource)) return toScale(endpoint, object, false) as unknown as ApiObject;
  if (isOther(endpoint, subresource)) return object;
  return { ...(await convertObject(object, endpoint, target)), ...gvkOf(target) };
}

/** The other way: what a webhook or policy made of the object of {@link shownAs}, as the request would have sent it. */
export async function takenBack(
  { endpoint, subresource, object }: AdmissionAttributes,
  target: Endpoint,
  changed: Record<string, unknown>,
): Promise<ApiObject> {
  if (isScale(endpoint, subresource) && object) {
    const { resourceVersion: _, ...metadata } = isRecord(changed.metadata) ? changed.metadata : {};
    return withScale(endpoint, object, { ...changed, metadata });
  }
  if (isOther(endpoint, subresource)) return changed as unknown as ApiObject;
  // What the kind does not have is dropped, as from any other body.
  const decoded = decode(target, changed);
  const back = await convertObject(decoded, target, endpoint);
  endpoint.version.codec.applyDefaults(back);
  return back;
}

function decode({ version }: Endpoint, body: Record<string, unknown>): ApiObject {
  try {
    return version.codec.decode(body).object;
  } catch (error) {
    if (error instanceof DecodeError) throw internal(error.message);
    throw error;
  }
}

/** The stored Namespace; undefined when there is none. */
export function storedNamespace({ store }: AdmissionBackend, name: string): ApiObject | undefined {
  const entry = store.get("namespaces", name);
  return entry && fromStore(entry.object);
}

import type { AdmissionPlugin } from "../admission/index.ts";
import {
  type AdmissionAttributes,
  type ApiObject,
  forbidden,
  fromStore,
  generateName,
  listAt,
  objectAt,
  storeKey,
} from "../registry/index.ts";
import type { Store } from "../store/index.ts";

const VOLUME_PREFIX = "kube-api-access-";
const MOUNT_PATH = "/var/run/secrets/kubernetes.io/serviceaccount";
const MIRROR = "kubernetes.io/config.mirror";
/** New namespaces get their account by a controller, a moment after they came. */
const PATIENCE_TURNS = 50;

type Fields = Record<string, unknown>;

/** Gives new pods their service account: its name, its pull secrets, and the volume with its token. */
export function podAccounts(store: Store, random: () => number): AdmissionPlugin {
  return {
    async mutate(attributes) {
      const { operation, endpoint, subresource, object, namespace = "" } = attributes;
      const { group, plural } = endpoint.resource;
      if (group !== "" || plural !== "pods" || operation !== "CREATE" || subresource !== undefined || !object) {
        return object;
      }
      if (object.metadata.annotations?.[MIRROR] !== undefined) {
        refuseReferences(attributes, object);
        return object;
      }
      const spec = object.spec as Fields;
      const name = String(spec.serviceAccountName || "default");
      spec.serviceAccountName = name;
      spec.serviceAccount = name;
      const account = await findAccount(store, namespace, name);
      if (!account) {
        const text = `error looking up service account ${namespace}/${name}: serviceaccount ${JSON.stringify(name)} not found`;
        throw forbidden(endpoint.resource, object.metadata.name ?? "", text);
      }
      if (wantsToken(account, spec)) mountToken(spec, random);
      const pullSecrets = listAt(account, "imagePullSecrets");
      if (listAt({ spec }, "spec", "imagePullSecrets").length === 0 && pullSecrets.length > 0) {
        spec.imagePullSecrets = pullSecrets.map(({ name }) => ({ name }));
      }
      return object;
    },
  };
}

/** A mirror pod shows what a node runs by itself, without the server's help. */
function refuseReferences({ endpoint }: AdmissionAttributes, pod: ApiObject): void {
  if (!objectAt(pod, "spec").serviceAccountName) return;
  throw forbidden(endpoint.resource, pod.metadata.name ?? "", "a mirror pod may not reference service accounts");
}

async function findAccount(store: Store, namespace: string, name: string): Promise<ApiObject | undefined> {
  for (let turn = 0; ; turn++) {
    const entry = store.get("serviceaccounts", storeKey(namespace, name));
    if (entry) return fromStore(entry.object);
    if (name !== "default" || turn === PATIENCE_TURNS) return undefined;
    await new Promise((resolve) => setTimeout(resolve, 0));
  }
}

function wantsToken(account: ApiObject, spec: Fields): boolean {
  const wish = spec.automountServiceAccountToken ?? account.automountServiceAccountToken;
  return wish !== false;
}

function mountToken(spec: Fields, random: () => number): void {
  const volumes = listAt({ spec }, "spec", "volumes");
  const known = volumes.find((volume) => String(volume.name).startsWith(VOLUME_PREFIX));
  const name = known ? String(known.name) : generateName(VOLUME_PREFIX, random);
  let used = false;
  for (const list of ["initContainers", "containers"]) {
    for (const container of listAt({ spec }, "spec", list)) {
      const mounts = listAt(container, "volumeMounts");
      if (mounts.some(({ mountPath }) => mountPath === MOUNT_PATH)) continue;
      container.volumeMounts = [...mounts, { name, readOnly: true, mountPath: MOUNT_PATH }];
      used = true;
    }
  }
  if (!known && used) spec.volumes = [...volumes, { name, projected: tokenSources() }];
}

function tokenSources(): Fields {
  return {
    sources: [
      { serviceAccountToken: { expirationSeconds: 3_607, path: "token" } },
      { configMap: { name: "kube-root-ca.crt", items: [{ key: "ca.crt", path: "ca.crt" }] } },
      {
        downwardAPI: {
          items: [{ path: "namespace", fieldRef: { apiVersion: "v1", fieldPath: "metadata.namespace" } }],
        },
      },
    ],
    defaultMode: 420,
  };
}

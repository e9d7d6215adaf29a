import { createPrivateKey, randomBytes } from "node:crypto";
import { CertificateAuthority } from "@lotse/client/certificates";
import type { CelSlot } from "./registry/index.ts";
import { type DataFolder, loadDisk, type Store, type StoredRow } from "./store/index.ts";

/** What a cluster is known by: clients that were told once go on working when it is started again. */
export interface Identity {
  /** The administrator's bearer token. */
  readonly token: string;
  /** Absent over plain HTTP. */
  readonly authority: CertificateAuthority | undefined;
}

/** Opens the folder of a cluster with `--data`; the code for disks is loaded only then. */
export async function openData(folder: string, sync = true): Promise<DataFolder> {
  const { DataFolder } = await loadDisk();
  return DataFolder.open(folder, { sync });
}

/** The identity of a cluster: its old one where it is kept, else a new one. */
export async function identityOf(name: string, tls: boolean, data: DataFolder | undefined): Promise<Identity> {
  const make = () => randomBytes(24).toString("base64url");
  const token = data ? await data.keep("token", make, checkToken, NEW_KUBECONFIG) : make();
  // Real time, whatever clock the cluster runs on: the TLS stacks on both ends look at the real one.
  const create = () => new CertificateAuthority(`${name}-ca`, Date.now());
  if (!tls) return { token, authority: undefined };
  if (!data) return { token, authority: create() };
  const check = (pem: string) => CertificateAuthority.fromPem(pem, Date.now());
  const pem = await data.keep("ca.pem", () => create().toPem(), check, NEW_KUBECONFIG);
  return { token, authority: CertificateAuthority.fromPem(pem, Date.now()) };
}

const NEW_KUBECONFIG = "a new one is made, and everybody needs the new kubeconfig";

/** A client that sends no token must not be taken for one that sends this one. */
function checkToken(token: string): void {
  if (!/^[-\w]{16,}$/.test(token)) throw new Error("it holds no token");
}

/** The key that tokens of service accounts are signed with. */
export function keepSigningKey(data: DataFolder, make: () => string): Promise<string> {
  const without = "a new one is made, and tokens of service accounts have to be asked for again";
  return data.keep("sa.pem", make, (pem) => createPrivateKey(pem), without);
}

/** Fills a new store with what was kept, and writes down from now on what happens in it. */
export function takeOver(store: Store, data: DataFolder): void {
  const { revision, rows, entries } = data.recovered;
  store.load(revision, rows, entries);
  data.journal.follow({
    state: () => ({ revision: store.revision, rows: store.rows() }),
    freeze: (to, why) => store.freeze(to, why),
  });
}

const DEFINITIONS = "customresourcedefinitions.apiextensions.k8s.io";

/** Definitions with rules need the expression engine before they are served; usually their creation has loaded it. */
export async function loadRules(rows: readonly StoredRow[], cel: CelSlot): Promise<void> {
  if (cel.engine) return;
  for (const { resource, object } of rows) {
    if (resource === DEFINITIONS && JSON.stringify(object).includes('"x-kubernetes-validations"')) return cel.load();
  }
}

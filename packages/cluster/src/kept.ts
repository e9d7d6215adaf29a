import { randomBytes } from "node:crypto";
import type { CelSlot } from "./registry/index.ts";
import { type DataFolder, loadDisk, type Store, type StoredRow } from "./store/index.ts";
import { CertificateAuthority } from "./transport/index.ts";

/** What a cluster is known by: clients that were told once go on working when it is started again. */
export interface Identity {
  /** The administrator's bearer token. */
  readonly token: string;
  /** Absent over plain HTTP. */
  readonly authority: CertificateAuthority | undefined;
}

export async function openData(folder: string, sync = true): Promise<DataFolder> {
  const { DataFolder } = await loadDisk();
  return DataFolder.open(folder, { sync });
}

/** The identity of a cluster: its old one where it is kept, else a new one. */
export async function identityOf(name: string, tls: boolean, data: DataFolder | undefined): Promise<Identity> {
  const make = () => randomBytes(24).toString("base64url");
  const token = data ? await data.keep("token", make) : make();
  // Real time, whatever clock the cluster runs on: the TLS stacks on both ends look at the real one.
  const create = () => new CertificateAuthority(`${name}-ca`, Date.now());
  if (!tls) return { token, authority: undefined };
  if (!data) return { token, authority: create() };
  const pem = await data.keep("ca.pem", () => create().toPem());
  return { token, authority: CertificateAuthority.fromPem(pem, Date.now()) };
}

/** Fills a new store with what was kept, and writes down from now on what happens in it. */
export function takeOver(store: Store, data: DataFolder): void {
  const { revision, rows, entries } = data.recovered;
  store.load(revision, rows, entries);
  data.journal.follow(() => ({ revision: store.revision, rows: store.rows() }));
}

const DEFINITIONS = "customresourcedefinitions.apiextensions.k8s.io";

/** Definitions with rules need the expression engine before they are served; usually their creation has loaded it. */
export async function loadRules(rows: readonly StoredRow[], cel: CelSlot): Promise<void> {
  if (cel.engine) return;
  for (const { resource, object } of rows) {
    if (resource === DEFINITIONS && JSON.stringify(object).includes('"x-kubernetes-validations"')) return cel.load();
  }
}

/** Certificates that another program writes into a folder: cert-manager by way of a mounted Secret, or a person. */
import { readFile, stat } from "node:fs/promises";
import path from "node:path";
import { type Clock, ConfigError, type Duration, durationMs, errorMessage, KubeError, Nap } from "@lotse/client/meta";
import type { Logger } from "../../report/index.ts";
import { certificatesIn, hasSigned, type Keyed, keyed } from "./content.ts";
import { SourceLife } from "./life.ts";
import { Listeners } from "./listeners.ts";
import type { CertificateHealth, CertificateInUse, CertificateSource } from "./source.ts";

/** What certificates in a folder are read by. */
export interface FileCertificateOptions {
  /** Holds `tls.crt`, `tls.key` and, unless machines believe it anyway, `ca.crt`. */
  readonly dir: string;
  /** False: another program sees to the `caBundle`, as cert-manager's injector does. Default true. */
  readonly publishes?: boolean | undefined;
  /** How often to look for a change. Default 30 s: the kubelet takes a minute to change what it mounts. */
  readonly poll?: Duration | undefined;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Ends everything, as `stop` does. */
  readonly signal: AbortSignal;
  /** Default: of the machine. */
  readonly read?: ((file: string) => Promise<string>) | undefined;
}

/** What the files say. */
interface FileTexts {
  readonly cert: string;
  readonly key: string;
  /** Undefined: there is no such file. */
  readonly ca: string | undefined;
}

/** What is in use, with what it was read from. */
interface InFiles extends CertificateInUse {
  readonly leaf: Keyed;
}

/** Where manifests put the certificates that others make, and where the operator looks for them. */
export const CERTIFICATES_DIR = "/var/run/secrets/lotse/webhooks";

/** Certificates in a folder, read again when they change. Files that do not fit each other yet change nothing. */
export function certificatesFromFiles(options: FileCertificateOptions): CertificateSource {
  return new FileCertificates(options);
}

class FileCertificates implements CertificateSource {
  readonly #options: FileCertificateOptions;
  readonly #life = new SourceLife();
  readonly #listeners = new Listeners();
  #texts: FileTexts | undefined;
  #inUse: InFiles | undefined;
  #problem: string | undefined;

  constructor(options: FileCertificateOptions) {
    this.#options = options;
    this.#life.begin(() => this.#run(), options.signal);
  }

  get ready(): Promise<void> {
    return this.#life.ready;
  }

  current(): CertificateInUse {
    if (!this.#inUse) throw new KubeError("There is no certificate for the webhook server yet.");
    return this.#inUse;
  }

  onChange(listener: (now: CertificateInUse) => void): () => void {
    return this.#listeners.add(listener);
  }

  health(): CertificateHealth {
    const leaf = this.#inUse?.leaf;
    const { clock } = this.#options;
    const over = leaf && leaf.notAfter <= clock.now() ? "the certificate of the webhook server is over" : undefined;
    return {
      notBefore: leaf && new Date(leaf.notBefore),
      notAfter: leaf && new Date(leaf.notAfter),
      authorityNotAfter: undefined,
      problem: this.#problem ?? over,
    };
  }

  stop(): Promise<void> {
    return this.#life.stop();
  }

  async #run(): Promise<void> {
    const { dir, clock, poll = "30s", read } = this.#options;
    const { signal } = this.#life;
    if (!read && !(await isFolder(dir))) {
      this.#life.fail(
        new ConfigError(`There is no folder ${dir} with certificates for the webhook server.`, {
          hint: "Name a folder that has tls.crt and tls.key, and ca.crt for the authority that signed them.",
        }),
      );
      return;
    }
    while (!signal.aborted) {
      await this.#look();
      const nap = new Nap(clock, signal);
      nap.endIn(durationMs(poll));
      await nap.over;
    }
    this.#life.fail(new KubeError("The operator stopped before there was a certificate for its webhook server."));
  }

  async #look(): Promise<void> {
    const { dir, logger, publishes = true } = this.#options;
    try {
      const texts = await this.#read();
      const isSame = JSON.stringify(texts) === JSON.stringify(this.#texts);
      const found = isSame && this.#inUse ? this.#inUse : judgeFiles(texts, publishes);
      this.#problem = undefined;
      if (isSame && this.#inUse) return;
      this.#texts = texts;
      const isFirst = !this.#inUse;
      this.#inUse = found;
      const notAfter = found.notAfter.toISOString();
      if (!isFirst) logger.info("the certificates of the webhook server were read anew", { dir, notAfter });
      this.#life.becomeReady();
      this.#listeners.tell(found, (error) => logger.error("a new certificate could not be taken into use", { error }));
    } catch (error) {
      const problem = `the certificates in ${dir} cannot be used: ${errorMessage(error)}`;
      if (problem === this.#problem) return;
      this.#problem = problem;
      const goesOn = this.#inUse ? "those that were read before stay in use" : "the webhook server waits for them";
      logger.warn("the certificates of the webhook server cannot be read", { dir, error: errorMessage(error), goesOn });
    }
  }

  async #read(): Promise<FileTexts> {
    const read = this.#options.read ?? ((file: string) => readFile(file, "utf8"));
    const at = (name: string) => path.join(this.#options.dir, name);
    const ca = read(at("ca.crt")).catch((error: unknown) => {
      if ((error as { code?: string }).code === "ENOENT") return undefined;
      throw error;
    });
    const [cert, key, authorities] = await Promise.all([read(at("tls.crt")), read(at("tls.key")), ca]);
    return { cert, key, ca: authorities };
  }
}

/** What the files mean. Throws with what does not fit. */
export function judgeFiles({ cert, key, ca }: FileTexts, publishes: boolean): InFiles {
  const chain = certificatesIn(cert);
  const [first] = chain ?? [];
  if (!chain || !first) throw new Error("tls.crt has no certificate");
  const leaf = keyed([first], key);
  if (!leaf) throw new Error("tls.key is not the key of tls.crt");
  const credentials = { key, cert: chain.map(({ pem }) => pem).join("") };
  const notAfter = new Date(leaf.notAfter);
  if (!publishes) return { leaf, credentials, caBundle: undefined, notAfter };
  if (ca !== undefined && ca.trim() !== "") {
    const authorities = certificatesIn(ca);
    if (!authorities || authorities.length === 0) throw new Error("ca.crt has no certificate");
    return { leaf, credentials, caBundle: authorities.map(({ pem }) => pem).join(""), notAfter };
  }
  // One that has signed itself is believed by nobody who is not told to; one of a public authority is.
  const last = chain.at(-1) ?? first;
  return { leaf, credentials, caBundle: hasSigned(last, last) ? last.pem : undefined, notAfter };
}

async function isFolder(dir: string): Promise<boolean> {
  try {
    return (await stat(dir)).isDirectory();
  } catch {
    return false;
  }
}

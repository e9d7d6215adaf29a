/** Where the certificates are kept, for all replicas of an operator: one Secret. */
import { AlreadyExistsError, type Client, ConflictError, NotFoundError, Secret } from "@lotse/client";
import type { SecretTexts } from "./content.ts";

/** Says whose certificates a Secret has: an operator's name. */
export const CERTIFICATES_LABEL = "lotse.dev/webhook-certificates";

/** What is in a place. */
export interface Stored {
  readonly isOurs: boolean;
  readonly texts: SecretTexts;
  /** What a write is based on. */
  readonly version: string;
}

/** A place that all replicas share. */
export interface CertificateStore {
  /** What is there; undefined: nothing. */
  read(signal: AbortSignal): Promise<Stored | undefined>;
  /**
   * Writes, unless another replica did since `version` was read; without one, unless there is anything. False: it did.
   */
  write(texts: SecretTexts, version: string | undefined, signal: AbortSignal): Promise<boolean>;
}

/** The Secret of an operator in a cluster. Needs `get`, `create` and `update`. */
export class SecretStore implements CertificateStore {
  readonly #client: Client;
  readonly #namespace: string;
  readonly #name: string;
  readonly #operator: string;
  /** As it was read: what others wrote into its metadata stays. */
  #read: Secret | undefined;

  constructor(client: Client, namespace: string, name: string, operator: string) {
    this.#client = client;
    this.#namespace = namespace;
    this.#name = name;
    this.#operator = operator;
  }

  async read(signal: AbortSignal): Promise<Stored | undefined> {
    try {
      const secret = await this.#client.get(Secret, this.#name, { namespace: this.#namespace, signal });
      this.#read = secret;
      const version = secret.body.metadata?.resourceVersion ?? "";
      return { isOurs: secret.labels[CERTIFICATES_LABEL] === this.#operator, texts: secret.decoded, version };
    } catch (error) {
      if (error instanceof NotFoundError) return undefined;
      throw error;
    }
  }

  async write(texts: SecretTexts, version: string | undefined, signal: AbortSignal): Promise<boolean> {
    const data = Object.fromEntries(
      Object.entries(texts).map(([key, text]) => [key, Buffer.from(text).toString("base64")]),
    );
    try {
      if (version === undefined) await this.#create(data, signal);
      else await this.#replace(data, version, signal);
      return true;
    } catch (error) {
      // Deleted since it was read: another look will tell.
      const isLate = error instanceof ConflictError || error instanceof AlreadyExistsError;
      if (isLate || (version !== undefined && error instanceof NotFoundError)) return false;
      throw error;
    }
  }

  async #create(data: SecretTexts, signal: AbortSignal): Promise<void> {
    const metadata = {
      name: this.#name,
      namespace: this.#namespace,
      labels: { [CERTIFICATES_LABEL]: this.#operator, "app.kubernetes.io/managed-by": "lotse" },
    };
    const body = { apiVersion: "v1", kind: "Secret", metadata, type: "kubernetes.io/tls", data };
    await this.#client.create(body, { signal });
  }

  async #replace(data: SecretTexts, version: string, signal: AbortSignal): Promise<void> {
    const body = this.#read?.body ?? {};
    const metadata = { ...body.metadata, name: this.#name, namespace: this.#namespace, resourceVersion: version };
    const { stringData: _, ...rest } = body;
    await this.#client.replace({ ...rest, apiVersion: "v1", kind: "Secret", metadata, data }, { signal });
  }
}

/** A place in the memory of this process. */
export class MemoryStore implements CertificateStore {
  #texts: SecretTexts | undefined;
  #version = 0;

  async read(): Promise<Stored | undefined> {
    return this.#texts && { isOurs: true, texts: this.#texts, version: String(this.#version) };
  }

  async write(texts: SecretTexts): Promise<boolean> {
    this.#texts = texts;
    this.#version++;
    return true;
  }
}

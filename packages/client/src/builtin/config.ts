/** ConfigMaps and Secrets. */
import { Buffer } from "node:buffer";
import { builtinDescription, type corev1 } from "../kinds/index.ts";
import { ConfigError, setKey } from "../meta/index.ts";
import { defined, type GenMeta, headerOf, KubeObject, splitMeta } from "../objects/index.ts";

/** What `ConfigMap.gen` takes. */
export interface ConfigMapGen extends GenMeta {
  data?: Record<string, string> | undefined;
  /** Base64, as in the API. */
  binaryData?: Record<string, string> | undefined;
  immutable?: boolean | undefined;
}

/**
 * A ConfigMap.
 *
 * @example
 * ```ts
 * await client.create(ConfigMap.gen({ generateName: "rate-", data: { rate: "1.1" } }));
 * ```
 */
export class ConfigMap extends KubeObject<corev1.ConfigMap> {
  static override readonly description = builtinDescription("", "v1", "ConfigMap");

  get data(): Readonly<Record<string, string>> {
    return this.body.data ?? {};
  }

  /** The binary values, decoded. */
  get binaryData(): Readonly<Record<string, Buffer>> {
    return decode(this.body.binaryData);
  }

  static gen(o: ConfigMapGen): ConfigMap {
    const { meta, rest } = splitMeta(o);
    return new ConfigMap({ ...headerOf(ConfigMap.description), metadata: meta, ...defined(rest) } as corev1.ConfigMap);
  }

  /** A ConfigMap with one key for each file, named like it; what is not UTF-8 goes to `binaryData`. */
  static async fromFiles(files: readonly (string | URL)[], o: ConfigMapGen): Promise<ConfigMap> {
    const { data, binaryData } = await readFiles(files);
    return ConfigMap.gen({ ...o, data: { ...data, ...o.data }, binaryData: { ...binaryData, ...o.binaryData } });
  }
}

/** What `Secret.gen` takes. */
export interface SecretGen extends GenMeta {
  /** Base64, as in the API. */
  data?: Record<string, string> | undefined;
  /** Plain texts; the server encodes them. */
  stringData?: Record<string, string> | undefined;
  type?: string | undefined;
  immutable?: boolean | undefined;
  /** A certificate and its key, PEM: makes a Secret of type `kubernetes.io/tls`. */
  tls?: { cert: string; key: string } | undefined;
}

/** A Secret. */
export class Secret extends KubeObject<corev1.Secret> {
  static override readonly description = builtinDescription("", "v1", "Secret");

  /** Base64, as in the API; `decoded` has the texts. */
  get data(): Readonly<Record<string, string>> {
    return this.body.data ?? {};
  }

  /** The values as texts. */
  get decoded(): Readonly<Record<string, string>> {
    const texts: Record<string, string> = {};
    for (const [key, value] of Object.entries(decode(this.body.data))) setKey(texts, key, value.toString("utf8"));
    return { ...texts, ...this.body.stringData };
  }

  static gen(o: SecretGen): Secret {
    const { meta, rest } = splitMeta(o);
    const { tls, ...given } = rest;
    if (tls && given.type !== undefined && given.type !== "kubernetes.io/tls") {
      throw new ConfigError(`a Secret with "tls" is of type kubernetes.io/tls, not ${given.type}`, {
        hint: 'leave "type" out, or put the certificate into "stringData"',
      });
    }
    const fields = tls
      ? {
          ...given,
          type: "kubernetes.io/tls",
          stringData: { ...given.stringData, "tls.crt": tls.cert, "tls.key": tls.key },
        }
      : given;
    return new Secret({ ...headerOf(Secret.description), metadata: meta, ...defined(fields) } as corev1.Secret);
  }
}

function decode(data: Readonly<Record<string, string>> | undefined): Record<string, Buffer> {
  return Object.fromEntries(Object.entries(data ?? {}).map(([key, value]) => [key, Buffer.from(value, "base64")]));
}

async function readFiles(files: readonly (string | URL)[]) {
  const { readFile } = await import("node:fs/promises");
  const { basename } = await import("node:path");
  const { fileURLToPath } = await import("node:url");
  const data: Record<string, string> = {};
  const binaryData: Record<string, string> = {};
  for (const file of files) {
    const path = typeof file === "string" ? file : fileURLToPath(file);
    const bytes = await readFile(path).catch((cause) => {
      throw new ConfigError(`${path} cannot be read: ${(cause as Error).message}`, { cause });
    });
    const text = bytes.toString("utf8");
    if (Buffer.from(text, "utf8").equals(bytes)) data[basename(path)] = text;
    else binaryData[basename(path)] = bytes.toString("base64");
  }
  return { data, binaryData };
}

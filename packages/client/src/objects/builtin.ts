/**
 * The built-in kinds that have a class. To add one is a row: a class over its generated type with its description, and a
 * `gen` where writing the body by hand is tedious.
 */
import { Buffer } from "node:buffer";
import { type apiextensionsv1, builtinDescription, type corev1 } from "../kinds/index.ts";
import { defined, type GenMeta, headerOf, splitMeta } from "./define-kind.ts";
import { KubeObject } from "./object.ts";

/** Environment of a container: a record, or the list of the API. */
type GenEnv = Readonly<Record<string, string>> | corev1.EnvVar[];

/** What `Pod.gen` takes: a pod of one container. */
export interface PodGen extends GenMeta {
  image: string;
  command?: string[] | undefined;
  args?: string[] | undefined;
  env?: GenEnv | undefined;
  ports?: number | readonly (number | corev1.ContainerPort)[] | undefined;
  resources?: corev1.ResourceRequirements | undefined;
  imagePullPolicy?: corev1.Container["imagePullPolicy"] | undefined;
  restartPolicy?: corev1.PodSpec["restartPolicy"] | undefined;
  serviceAccountName?: string | undefined;
  /** Default: the pod's name, or `main`. */
  containerName?: string | undefined;
}

/**
 * A pod.
 *
 * @example
 * ```ts
 * const pod = await Pod.gen({ name: "web", image: "nginx", ports: 80 }).create();
 * await pod.wait("condition=Ready");
 * ```
 */
export class Pod extends KubeObject<corev1.Pod> {
  static override readonly description = builtinDescription("", "v1", "Pod");

  static gen(o: PodGen): Pod {
    const { meta, rest } = splitMeta(o);
    const { containerName, restartPolicy, serviceAccountName, env, ports, ...container } = rest;
    return new Pod({
      ...headerOf(Pod.description),
      metadata: meta,
      spec: defined({
        containers: [
          defined({
            name: containerName ?? meta.name ?? "main",
            ...container,
            env: readEnv(env),
            ports: readPorts(ports),
          }) as corev1.Container,
        ],
        restartPolicy,
        serviceAccountName,
      }),
    } as corev1.Pod);
  }
}

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

  static gen(o: ConfigMapGen): ConfigMap {
    const { meta, rest } = splitMeta(o);
    return new ConfigMap({ ...headerOf(ConfigMap.description), metadata: meta, ...defined(rest) } as corev1.ConfigMap);
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
}

/** A Secret. */
export class Secret extends KubeObject<corev1.Secret> {
  static override readonly description = builtinDescription("", "v1", "Secret");

  /** The values as texts. */
  get decoded(): Readonly<Record<string, string>> {
    const texts: Record<string, string> = {};
    for (const [key, value] of Object.entries(this.body.data ?? {})) {
      texts[key] = Buffer.from(value, "base64").toString("utf8");
    }
    return { ...texts, ...this.body.stringData };
  }

  static gen(o: SecretGen): Secret {
    const { meta, rest } = splitMeta(o);
    return new Secret({ ...headerOf(Secret.description), metadata: meta, ...defined(rest) } as corev1.Secret);
  }
}

/** A Namespace. */
export class Namespace extends KubeObject<corev1.Namespace> {
  static override readonly description = builtinDescription("", "v1", "Namespace");

  static gen(o: Omit<GenMeta, "namespace">): Namespace {
    const { meta } = splitMeta(o);
    return new Namespace({ ...headerOf(Namespace.description), metadata: meta } as corev1.Namespace);
  }
}

/** An Event of the core group: what `kubectl describe` shows. */
export class Event extends KubeObject<corev1.Event> {
  static override readonly description = builtinDescription("", "v1", "Event");
}

/** The definition of a custom kind. */
export class CustomResourceDefinition extends KubeObject<apiextensionsv1.CustomResourceDefinition> {
  static override readonly description = builtinDescription("apiextensions.k8s.io", "v1", "CustomResourceDefinition");
}

function readEnv(env: GenEnv | undefined): corev1.EnvVar[] | undefined {
  if (env === undefined || Array.isArray(env)) return env as corev1.EnvVar[] | undefined;
  return Object.entries(env).map(([name, value]) => ({ name, value }));
}

function readPorts(ports: PodGen["ports"]): corev1.ContainerPort[] | undefined {
  if (ports === undefined) return undefined;
  const list = typeof ports === "number" ? [ports] : ports;
  return list.map((port) => (typeof port === "number" ? { containerPort: port } : port));
}

/** What `gen` of pods, and of everything that has a template for pods, have in common. */
import type { corev1 } from "../kinds/index.ts";
import { defined, type GenMeta, splitMeta } from "../objects/index.ts";

/** One container, and the few settings of a pod that are needed often. */
export interface ContainerGen {
  image: string;
  command?: string[] | undefined;
  args?: string[] | undefined;
  /** A record, or the list of the API. */
  env?: Readonly<Record<string, string>> | corev1.EnvVar[] | undefined;
  ports?: number | readonly (number | corev1.ContainerPort)[] | undefined;
  resources?: corev1.ResourceRequirements | undefined;
  imagePullPolicy?: corev1.Container["imagePullPolicy"] | undefined;
  workingDir?: string | undefined;
  volumeMounts?: corev1.VolumeMount[] | undefined;
  readinessProbe?: corev1.Probe | undefined;
  livenessProbe?: corev1.Probe | undefined;
  /** Default: the object's name, or `main`. */
  containerName?: string | undefined;
  restartPolicy?: corev1.PodSpec["restartPolicy"] | undefined;
  serviceAccountName?: string | undefined;
  nodeSelector?: Record<string, string> | undefined;
  tolerations?: corev1.Toleration[] | undefined;
  volumes?: corev1.Volume[] | undefined;
}

/** A pod's spec out of the flat form, and what was not about it. */
export function takePodSpec<O extends GenMeta & ContainerGen>(o: O) {
  const { meta, rest } = splitMeta(o);
  const {
    image,
    command,
    args,
    env,
    ports,
    resources,
    imagePullPolicy,
    workingDir,
    volumeMounts,
    readinessProbe,
    livenessProbe,
    containerName,
    restartPolicy,
    serviceAccountName,
    nodeSelector,
    tolerations,
    volumes,
    ...others
  } = rest;
  const container = defined({
    name: containerName ?? meta.name ?? "main",
    image,
    command,
    args,
    env: readEnv(env),
    ports: readPorts(ports),
    resources,
    imagePullPolicy,
    workingDir,
    volumeMounts,
    readinessProbe,
    livenessProbe,
  }) as corev1.Container;
  const pod = { restartPolicy, serviceAccountName, nodeSelector, tolerations, volumes };
  const spec: corev1.PodSpec = { containers: [container], ...(defined(pod) as Partial<corev1.PodSpec>) };
  return { meta, spec, others };
}

function readEnv(env: ContainerGen["env"]): corev1.EnvVar[] | undefined {
  if (env === undefined || Array.isArray(env)) return env as corev1.EnvVar[] | undefined;
  return Object.entries(env).map(([name, value]) => ({ name, value }));
}

function readPorts(ports: ContainerGen["ports"]): corev1.ContainerPort[] | undefined {
  if (ports === undefined) return undefined;
  const list = typeof ports === "number" ? [ports] : ports;
  return list.map((port) => (typeof port === "number" ? { containerPort: port } : port));
}

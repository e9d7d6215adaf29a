// What the suite's containers do, as far as their command lines say it: simulated pods are told so as in any test.
import type { Cluster, SimulatedPod, SimulatedRun } from "@lotse/cluster";

interface Container {
  readonly name: string;
  readonly image?: string;
  readonly command?: readonly string[];
  readonly args?: readonly string[];
}

/** The script that a container runs; undefined when this file does not know what becomes of it. */
export type Script = (run: SimulatedRun) => number | Promise<number>;

/** Lets the containers of Jobs run on and end as their commands say. */
export function programPods(cluster: Cluster): void {
  const markers = new Set<string>();
  cluster.pods.program((pod) => isOfJob(pod) && containersOf(pod).some((one) => scriptOf(one, markers) !== undefined), {
    run: (run) => {
      const container = containersOf(run.pod).find(({ name }) => name === run.container);
      const script = container && scriptOf(container, markers);
      return script ? script(run) : 0;
    },
  });
}

const isOfJob = ({ body }: SimulatedPod): boolean => {
  const { ownerReferences = [] } = body.metadata as { ownerReferences?: { kind: string }[] };
  return ownerReferences.some(({ kind }) => kind === "Job");
};

const containersOf = ({ body }: SimulatedPod): readonly Container[] =>
  (body.spec as { containers: readonly Container[] }).containers;

/** Pure but for the markers that scripts leave behind for the next run. */
export function scriptOf({ image = "", command = [], args = [] }: Container, markers: Set<string>): Script | undefined {
  const text = [...command, ...args].join(" ");
  if (text === "" && image.includes("pause")) return forever;
  if (/^sleep \d+$/.test(text)) return forever;
  const plain = /^(?:\/bin\/)?sh -c exit (\d+)$/.exec(text);
  if (plain) return () => Number(plain[1]);
  if (text.includes("exit $(( $RANDOM / 16384 ))")) return ({ attempt }) => (attempt % 2 === 0 ? 1 : 0);
  if (/expr \$\{JOB_COMPLETION_INDEX\} % 2/.test(text)) return ({ pod }) => Number(indexOf(pod)) % 2;
  const marker = /-r (\/data\/foo\S*) .*?(?:exit (\d+)\s+fi|sleep \d+\s+fi)/s.exec(text);
  if (!marker) return undefined;
  return (run) => {
    const key = `${placeOf(run.pod)} ${String(marker[1]).includes("$") ? indexOf(run.pod) : ""}`;
    if (markers.has(key)) return 0;
    markers.add(key);
    return marker[2] === undefined ? forever(run) : Number(marker[2]);
  };
}

/** Until it is asked to end. */
async function forever(run: SimulatedRun): Promise<number> {
  while (!run.signal.aborted) await run.sleep("1h");
  return 0;
}

const indexOf = ({ body }: SimulatedPod): string => {
  const { annotations = {} } = body.metadata as { annotations?: Record<string, string> };
  return annotations["batch.kubernetes.io/job-completion-index"] ?? "";
};

/** What all pods share that see the same files: a folder of the node, or else each pod its own. */
function placeOf({ body }: SimulatedPod): string {
  const { volumes = [] } = body.spec as { volumes?: { hostPath?: { path: string } }[] };
  const shared = volumes.find(({ hostPath }) => hostPath !== undefined)?.hostPath?.path;
  return shared ?? (body.metadata as { uid: string }).uid;
}

// What the suite's containers do, as far as their command lines say it: simulated pods are told so as in any test.
import type { Cluster, SimulatedPod, SimulatedRun } from "@lotse/cluster";
import { serveWebhook } from "./webhooks.ts";

interface Container {
  readonly name: string;
  readonly image?: string;
  readonly command?: readonly string[];
  readonly args?: readonly string[];
}

/** Plays a container to its end, which is its exit code. */
export type Script = (run: SimulatedRun) => number | Promise<number>;

/** Lets containers run on and end as their commands say, where this file knows them; others only run. */
export function programPods(cluster: Cluster): void {
  // Nothing that is asked to end is gone at once, and some specs look in between.
  cluster.pods.program(() => true, { stopDelay: "1s" });
  cluster.pods.program((pod) => containersOf(pod).some((one) => WEBHOOKS.has(wordsOf(one)[0] ?? "")), {
    run: (run) => (WEBHOOKS.has(run.command[0] ?? "") ? serveWebhook(cluster, run) : undefined),
  });
  const markers = new Set<string>();
  const known = (container: Container) => scriptOf(container, wordsOf(container), markers) !== undefined;
  cluster.pods.program((pod) => containersOf(pod).some(known), {
    run: async (run) => {
      const container = containersOf(run.pod).find(({ name }) => name === run.container);
      if (!container || !known(container)) return isInit(run) ? 0 : undefined;
      return scriptOf(container, run.command, markers)?.(run);
    },
  });
}

const WEBHOOKS: ReadonlySet<string> = new Set(["webhook", "crd-conversion-webhook"]);

const isInit = ({ pod, container }: SimulatedRun): boolean =>
  ((pod.body.spec as { initContainers?: readonly Container[] }).initContainers ?? []).some(
    ({ name }) => name === container,
  );

function containersOf({ body }: SimulatedPod): readonly Container[] {
  const { containers, initContainers = [] } = body.spec as Record<"containers" | "initContainers", Container[]>;
  return [...initContainers, ...containers];
}

const wordsOf = ({ command = [], args = [] }: Container): readonly string[] => [...command, ...args];

/** The script for a command line; undefined when it is none of those that are known. */
export function scriptOf(
  { image = "" }: Pick<Container, "image">,
  words: readonly string[],
  markers: Set<string>,
): Script | undefined {
  const text = words.join(" ");
  if (text === "" && image.includes("pause")) return forever;
  if (/^(?:\/bin\/)?sleep \d+$/.test(text)) return forever;
  if (text === "/bin/true" || text === "/bin/false") return () => (text === "/bin/true" ? 0 : 1);
  if (words[0] === "mounttest") return mountTest(words.slice(1));
  const shell = /^(?:\/bin\/)?sh -c (.*)$/s.exec(text)?.[1];
  return shell === undefined ? undefined : shellScript(shell.trim(), markers);
}

function shellScript(text: string, markers: Set<string>): Script | undefined {
  const plain = /^exit (\d+)$/.exec(text);
  if (plain) return () => Number(plain[1]);
  if (text === "env") return printVariables;
  const echoed = /^(?:[A-Z_]+=\S+ )?echo "([^"$]*|\$\([A-Z_]+\)[^"$]*)"$/.exec(text);
  if (echoed) return print(String(echoed[1]));
  if (/^cat \S+( && cat \S+)*$/.test(text)) return printFiles(text.split(" && ").map((part) => part.slice(4)));
  if (text === "exit $(( $RANDOM / 16384 ))") return ({ attempt }) => (attempt % 2 === 0 ? 1 : 0);
  if (/expr \$\{JOB_COMPLETION_INDEX\} % 2/.test(text)) return ({ pod }) => Number(indexOf(pod)) % 2;
  const marker = /-r (\/data\/foo\S*) .*?(?:exit (\d+)\s+fi|sleep \d+\s+fi)/s.exec(text);
  return marker ? onceMarked(String(marker[1]), marker[2], markers) : undefined;
}

/** Ends well if it was there before; leaves its mark, and fails or stays, if not. */
function onceMarked(file: string, code: string | undefined, markers: Set<string>): Script {
  return (run) => {
    const key = `${placeOf(run.pod)} ${file.includes("$") ? indexOf(run.pod) : ""}`;
    if (markers.has(key)) return 0;
    markers.add(key);
    return code === undefined ? forever(run) : Number(code);
  };
}

/** Until it is asked to end. */
async function forever(run: SimulatedRun): Promise<number> {
  while (!run.signal.aborted) await run.sleep("1h");
  return 0;
}

const print =
  (text: string): Script =>
  (run) => {
    run.log(text);
    return 0;
  };

function printVariables(run: SimulatedRun): number {
  for (const [name, value] of Object.entries(run.env)) run.log(`${name}=${value}`);
  return 0;
}

function printFiles(paths: readonly string[]): Script {
  return (run) => {
    for (const path of paths) {
      const text = contentOf(run, path);
      if (text === undefined) return 1;
      run.log(text);
    }
    return 0;
  };
}

function contentOf(run: SimulatedRun, path: string): string | undefined {
  const file = run.files().get(path);
  return file && new TextDecoder().decode(file.bytes);
}

/** The suite's program that looks at files; only what it asks of volumes that the server fills. */
function mountTest(words: readonly string[]): Script | undefined {
  const flags = new Map(words.map((word) => [word.split("=")[0], word.slice(word.indexOf("=") + 1)]));
  const known = [
    "--file_content",
    "--file_mode",
    "--file_content_in_loop",
    "--retry_time",
    "--break_on_expected_content",
  ];
  if (![...flags.keys()].every((flag) => known.includes(flag ?? ""))) return undefined;
  const seconds = Number(flags.get("--retry_time") ?? 180);
  return async (run) => {
    let code = 0;
    const mode = flags.get("--file_mode");
    if (mode !== undefined) {
      const file = run.files().get(mode);
      if (!file) code = 1;
      run.log(file ? `mode of file "${mode}": ${modeText(file.mode)}` : `error from Stat("${mode}"): no such file`);
    }
    const once = flags.get("--file_content");
    if (once !== undefined) {
      const text = contentOf(run, once);
      if (text === undefined) code = 1;
      run.log(text === undefined ? `error reading file content for "${once}"` : `content of file "${once}": ${text}`);
    }
    const again = flags.get("--file_content_in_loop");
    for (let spent = 0; again !== undefined && spent < seconds && !run.signal.aborted; spent += 2) {
      const text = contentOf(run, again);
      const missing = `Error reading file ${again}: open ${again}: no such file or directory, retrying`;
      run.log(text === undefined ? missing : `content of file "${again}": ${text}`);
      await run.sleep("2s");
    }
    return code;
  };
}

/** As `ls -l` has it. */
export function modeText(mode: number): string {
  const bits = "rwxrwxrwx";
  return `-${[...bits].map((bit, i) => (mode & (1 << (8 - i)) ? bit : "-")).join("")}`;
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

/**
 * The plain forms of `lotse cluster`, read without the parser of all commands: to load that takes longer than a cluster
 * may take to be up. Whatever is not plain (help, joined letters, the environment, every mistake) is left to the parser,
 * whose word counts.
 */
import type { ClusterOptions } from "./cluster.ts";
import { KUBELETS } from "./local-cluster/index.ts";

type Plain = ClusterOptions & { readonly verbose?: boolean };
type Read = (value: string) => Partial<Plain> | undefined;

const PORT = /^\d{1,5}$/;
const LARGEST_PORT = 65_535;

const SWITCHES: Readonly<Record<string, Partial<Plain>>> = {
  "--plain-http": { plainHttp: true },
  "--rbac": { rbac: true },
  "--verbose": { verbose: true },
  "-v": { verbose: true },
};

const VALUES: Readonly<Record<string, Read>> = {
  "--port": (text) => (PORT.test(text) && Number(text) <= LARGEST_PORT ? { port: Number(text) } : undefined),
  "--kubeconfig": (kubeconfig) => ({ kubeconfig }),
  "--data": (data) => ({ data }),
  "--envtest": (envtest) => ({ envtest }),
  "--kubelet": (text) => {
    const kubelet = KUBELETS.find((known) => known === text);
    return kubelet && { kubelet };
  },
  "--output": (text) => (text === "json" ? { output: "json" } : undefined),
  "-o": (text) => (text === "json" ? { output: "json" } : undefined),
};

/** The options of a command line that is plain; undefined for every other one. */
export function readPlainCluster(
  argv: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
): Plain | undefined {
  const [command, ...words] = argv;
  if (command !== "cluster" || Object.keys(env).some((name) => name.startsWith("LOTSE_CLUSTER_"))) return undefined;
  let options: Plain = {};
  for (let i = 0; i < words.length; i++) {
    const word = words[i] as string;
    const found = own(SWITCHES, word) ?? readValue(own(VALUES, word), words[++i]);
    if (!found) return undefined;
    options = { ...options, ...found };
  }
  return options;
}

const readValue = (read: Read | undefined, value: string | undefined) =>
  value === undefined || value === "" || value.startsWith("-") ? undefined : read?.(value);

const own = <T>(table: Readonly<Record<string, T>>, key: string): T | undefined =>
  Object.hasOwn(table, key) ? table[key] : undefined;

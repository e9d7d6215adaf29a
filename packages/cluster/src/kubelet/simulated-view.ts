import { type ApiObject, listAt } from "../registry/index.ts";
import type { SimulatedRun } from "./behaviour.ts";
import { containerEnvironment, expand, type FindObject } from "./environment.ts";
import { CAPACITY } from "./node.ts";
import { mountedFiles, type PodToken } from "./volume-files.ts";

/** Where what a container sees is read from. */
export interface ViewSources {
  readonly find: (plural: string, namespace: string, name: string) => ApiObject | undefined;
  readonly token: PodToken;
}

const HOST = "127.0.0.1";

/** What the program of a simulated container sees of its surroundings; found out when it looks. */
export function containerView(
  pod: ApiObject,
  container: Readonly<Record<string, unknown>>,
  podIp: string,
  { find, token }: ViewSources,
): Pick<SimulatedRun, "command" | "env" | "files"> {
  const addresses = { podIp, hostIp: HOST };
  const findData: FindObject = find;
  const environment = () => containerEnvironment(pod, container, addresses, {}, findData, CAPACITY);
  return {
    get env() {
      return environment();
    },
    get command() {
      const words = [...listOf(container.command), ...listOf(container.args)];
      const env = words.some((word) => word.includes("$")) ? environment() : {};
      return words.map((word) => expand(word, env));
    },
    files: () => {
      const { namespace = "", name } = pod.metadata;
      const present = find("pods", namespace, name) ?? pod;
      const usesEnv = listAt(container, "volumeMounts").some(({ subPathExpr }) => subPathExpr !== undefined);
      const sources = { addresses, node: CAPACITY, find: findData, token };
      return mountedFiles(present, container, usesEnv ? environment() : {}, sources);
    },
  };
}

const listOf = (value: unknown): string[] => (Array.isArray(value) ? value.map(String) : []);

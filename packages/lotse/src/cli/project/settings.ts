/** What a project says about its development: the field `lotse` of the package.json above the operator's file. */
import { readFileSync } from "node:fs";
import path from "node:path";
import { KUBELETS, type KubeletChoice } from "../local-cluster/index.ts";
import { Problem } from "../terminal/index.ts";

/** `"lotse": { "kubelet": "process" }` */
export interface ProjectSettings {
  /** How pods run in `lotse dev`. */
  readonly kubelet?: KubeletChoice;
}

/** The settings of the project that `file` belongs to; none when there is no package.json, or nothing in it. */
export function projectSettings(file: string): ProjectSettings {
  for (let folder = path.dirname(file); ; folder = path.dirname(folder)) {
    const place = path.join(folder, "package.json");
    const text = readText(place);
    if (text !== undefined) return settingsIn(text, place);
    if (folder === path.dirname(folder)) return {};
  }
}

function readText(place: string): string | undefined {
  try {
    return readFileSync(place, "utf8");
  } catch {
    return undefined;
  }
}

function settingsIn(text: string, place: string): ProjectSettings {
  let parsed: { lotse?: ProjectSettings };
  try {
    parsed = JSON.parse(text) as typeof parsed;
  } catch {
    // Node.js has its own words for that when it loads the file.
    return {};
  }
  const { kubelet } = parsed?.lotse ?? {};
  if (kubelet === undefined) return {};
  if (KUBELETS.includes(kubelet)) return { kubelet };
  throw new Problem({
    what: `${place}: lotse.kubelet is ${JSON.stringify(kubelet)}`,
    todo: `it can be ${KUBELETS.map((one) => `"${one}"`).join(", ")}`,
  });
}

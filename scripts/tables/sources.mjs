// Where the facts come from: Kubernetes' own Go modules, found through the Go tool so that any machine with Go and a
// module proxy can run the generator.
import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

export const KUBERNETES_VERSION = "1.36.3";

/** The libraries are released with the server, as v0.<minor>.<patch>. */
const LIBRARY_VERSION = KUBERNETES_VERSION.replace(/^1\./, "0.");

const MODULES = {
  kubernetes: `k8s.io/kubernetes@v${KUBERNETES_VERSION}`,
  api: `k8s.io/api@v${LIBRARY_VERSION}`,
  apimachinery: `k8s.io/apimachinery@v${LIBRARY_VERSION}`,
  apiextensions: `k8s.io/apiextensions-apiserver@v${LIBRARY_VERSION}`,
  aggregator: `k8s.io/kube-aggregator@v${LIBRARY_VERSION}`,
};

/**
 * @typedef {keyof typeof MODULES} ModuleName
 * @typedef {object} Sources
 * @property {(module: ModuleName, path: string) => string} text reads a file of a module
 * @property {(module: ModuleName, path: string) => any} json reads and parses a file of a module
 * @property {(module: ModuleName, folder: string) => string[]} files names of the files of a folder, sorted
 */

/** @returns {Sources} */
export function openSources() {
  /** @type {Map<string, string>} */
  const folders = new Map();
  /** @param {ModuleName} module */
  const folderOf = (module) => {
    let folder = folders.get(module);
    if (folder === undefined) {
      folder = downloadModule(MODULES[module]);
      folders.set(module, folder);
    }
    return folder;
  };
  /** @type {Sources["text"]} */
  const text = (module, path) => readFileSync(join(folderOf(module), path), "utf8");
  return {
    text,
    json: (module, path) => JSON.parse(text(module, path)),
    files: (module, folder) =>
      readdirSync(join(folderOf(module), folder), { withFileTypes: true })
        .filter((entry) => entry.isFile())
        .map((entry) => entry.name)
        .sort(),
  };
}

/**
 * @param {string} module path@version
 * @returns {string} the folder that holds the module's files
 */
function downloadModule(module) {
  let answer;
  try {
    // Outside of any Go module: a go.mod above the working directory must not change what is downloaded.
    answer = execFileSync("go", ["mod", "download", "-json", module], {
      cwd: tmpdir(),
      encoding: "utf8",
      stdio: "pipe",
    });
  } catch (error) {
    const cause = /** @type {NodeJS.ErrnoException & { stdout?: string; stderr?: string }} */ (error);
    if (cause.code === "ENOENT") {
      throw new Error(
        "The Go tool was not found. The tables are generated from Kubernetes' Go modules: install Go (https://go.dev/dl) and run again.",
      );
    }
    throw new Error(`Go could not download ${module}: ${cause.stdout || cause.stderr || cause.message}`);
  }
  const { Dir } = JSON.parse(answer);
  if (typeof Dir !== "string") throw new Error(`Go did not say where it put ${module}: ${answer}`);
  return Dir;
}

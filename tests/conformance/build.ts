// Kubernetes' own conformance suite, as it comes from the Go module proxy: compiled once for each change of the recipe.
import { createHash } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { cacheFolder } from "../cache.ts";
import { buildFlags, buildProgram, buildServers, programPath, version } from "../real/build.ts";

export { version };

const recipe = fileURLToPath(new URL("./suite", import.meta.url));
const args = ["test", "-c", "-vet=off", ...buildFlags, "k8s.io/kubernetes/test/e2e"];

/** The programs that a run needs. */
export interface SuitePrograms {
  /** The suite itself. */
  readonly suite: string;
  /** Some specs call kubectl. */
  readonly kubectl: string;
}

/** Where the programs are, or will be. */
export function suitePrograms(): SuitePrograms {
  const hash = createHash("sha256");
  for (const file of ["go.mod", "go.sum"]) hash.update(readFileSync(path.join(recipe, file)));
  hash.update(JSON.stringify([args, process.platform, process.arch]));
  const folder = cacheFolder("conformance", `${version}-${hash.digest("hex").slice(0, 12)}`);
  return { suite: path.join(folder, "e2e.test"), kubectl: programPath("kubectl") };
}

/** Builds what is missing: some twenty minutes the first time, never again. */
export async function buildSuite(log: (line: string) => void): Promise<SuitePrograms> {
  const programs = suitePrograms();
  await buildServers(log, ["kubectl"]);
  if (!existsSync(programs.suite)) {
    log(`building the conformance suite of Kubernetes ${version}: some twenty minutes the first time, never again`);
    await buildProgram(programs.suite, recipe, args, log);
  }
  return programs;
}

// `npm run api`: writes packages/*/api.md, what each package exports with all signatures. `npm run check` calls it too,
// and fails when a report is not what the sources say.
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { reportOf } from "./api/report.mjs";
import { emitInto } from "./declarations.mjs";
import { ensureInstalled } from "./install.mjs";
import { main, say } from "./process.mjs";
import { readPackages, root, scratch } from "./workspace.mjs";

/**
 * What every package exports, as it is in the sources now.
 *
 * @returns {Promise<{ pkg: object, surfaces: import("./api/surface.mjs").Surface[] }[]>}
 */
export async function readApi() {
  // Needs an installed compiler: `npm run check` is the first command in a fresh clone, and installs.
  const { surfacesOf } = await import("./api/surface.mjs");
  const packages = readPackages();
  const emitted = path.join(scratch, "api");
  // Whether the types are right is for `tsc` to say; here they are only written down.
  await emitInto(emitted, packages, { check: false });
  return packages.map((pkg) => ({ pkg, surfaces: surfacesOf(pkg, emitted) }));
}

/** The reports that are not what the sources say. */
export function staleReports(api) {
  return api
    .map(({ pkg, surfaces }) => ({ file: path.join(pkg.dir, "api.md"), text: reportOf(pkg.name, surfaces) }))
    .filter(({ file, text }) => !existsSync(file) || readFileSync(file, "utf8") !== text);
}

/** The public names that have no doc comment: `lotse: Operator`. */
export function undocumented(api) {
  return api.flatMap(({ surfaces }) =>
    surfaces.flatMap(({ entry, names }) =>
      names.filter(({ documented }) => !documented).map(({ name }) => `${entry}: ${name}`),
    ),
  );
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  await main(async () => {
    await ensureInstalled();
    const api = await readApi();
    const stale = staleReports(api);
    for (const { file, text } of stale) {
      writeFileSync(file, text);
      say(`written  ${path.relative(root, file)}`);
    }
    if (stale.length === 0) say("the API reports are what the sources say");
    return 0;
  });
}

// `npm run check`: types, lint and format, lock file, layering, API reports, doc comments and tests in a hurry. One line each with its time, then everything that is wrong.
import path from "node:path";
import { readApi, staleReports, undocumented } from "./api.mjs";
import { ensureInstalled } from "./install.mjs";
import { checkLayers, tell } from "./layers.mjs";
import { complete, unexcused } from "./lock.mjs";
import { capture, leaveResults, main, say, seconds } from "./process.mjs";
import { readJson, root } from "./workspace.mjs";

const tool = (...parts) => path.join(root, "node_modules", ...parts);
const color = process.stdout.isTTY ? ["--colors=force"] : ["--colors=off"];

const checks = {
  types: () => run([tool("typescript", "bin", "tsc"), "-p", root, "--pretty", String(process.stdout.isTTY ?? false)]),
  "lint and format": () =>
    run([tool("@biomejs", "biome", "bin", "biome"), "check", ...color, "--max-diagnostics=100", "."]),
  "lock file": () => {
    const lock = readJson(path.join(root, "package-lock.json"));
    const hosts = Object.keys(lock.packages).filter((where) => /^https?:/.test(lock.packages[where].resolved ?? ""));
    const missing = complete(lock);
    const unchecked = unexcused(lock);
    const output = [
      missing.length > 0 && `missing: ${missing.join(", ")}\n    → run \`node scripts/lock.mjs\``,
      unchecked.length > 0 && `without a checksum: ${unchecked.join(", ")}\n    → run \`node scripts/lock.mjs\``,
      hosts.length > 0 &&
        `with the address of a registry: ${hosts.join(", ")}\n    → run \`npm install --omit-lockfile-registry-resolved\``,
    ];
    return { ok: missing.length + hosts.length + unchecked.length === 0, output: output.filter(Boolean).join("\n") };
  },
  layering: () => {
    const { files, violations } = checkLayers();
    return { ok: violations.length === 0, note: `${files} files`, output: violations.map(tell).join("\n") };
  },
  "doc comments": async () => {
    // Needs an installed compiler, which a fresh clone has only now.
    const { undocumentedInPackages } = await import("./doc-comments.mjs");
    const silent = undocumentedInPackages();
    return {
      ok: silent.length === 0,
      output: `${silent.join("\n")}\n    → say what each is for, or what must stay true`,
    };
  },
  "tests in a hurry": async () => {
    const { hastyTests } = await import("./patience.mjs");
    const hasty = hastyTests();
    return {
      ok: hasty.length === 0,
      output: `${hasty.join("\n")}\n    → a wait of a second fails on a busy machine: use expect.poll, or give a timeout`,
    };
  },
  "API reports": async () => {
    const api = await readApi();
    const stale = staleReports(api).map(({ file }) => path.relative(root, file));
    const silent = undocumented(api);
    const output = [
      stale.length > 0 &&
        `${stale.join(", ")}: not what the sources say\n    → run \`npm run api\`, and look at the difference`,
      silent.length > 0 &&
        `without a doc comment: ${silent.join(", ")}\n    → say what each is for, where it is declared`,
    ];
    return { ok: stale.length + silent.length === 0, output: output.filter(Boolean).join("\n") };
  },
};

async function run(args) {
  const { exitCode, stdout, stderr } = await capture(process.execPath, args, { cwd: root });
  return { ok: exitCode === 0, output: `${stdout}${stderr}`.trim() };
}

await main(async () => {
  await ensureInstalled();
  const results = await Promise.all(
    Object.entries(checks).map(async ([name, check]) => {
      const since = performance.now();
      const result = await check();
      const note = result.note ? `, ${result.note}` : "";
      say(`${result.ok ? "ok    " : "FAILED"} ${name.padEnd(16)} ${seconds(since)}${note}`);
      return { name, ...result };
    }),
  );
  const failures = results.filter((result) => !result.ok);
  for (const { name, output } of failures) say(`\n── ${name} ──\n${output}`);
  leaveResults(results.length - failures.length, failures.length);
  return failures.length > 0 ? 1 : 0;
});

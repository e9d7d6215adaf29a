/** The walk of a change that docs/architecture.md tells is the one that a change takes. */
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { beforeAll, describe, expect, it } from "vitest";
import { follow, HANDLER, type Hop, type Walk } from "./walk/follow.ts";

const page = readFileSync(fileURLToPath(new URL("../../docs/architecture.md", import.meta.url)), "utf8");
const walk = sectionOf(page, "## The walk of a change");
const hops = hopsIn(walk);
const onTheWay = filesIn(sectionOf(walk, "### Asked on the way"));

/** From a heading up to the next one of its rank. */
function sectionOf(text: string, heading: string): string {
  const start = text.indexOf(`${heading}\n`);
  if (start < 0) throw new Error(`the page has no heading "${heading}"`);
  const rank = heading.slice(0, heading.indexOf(" ") + 1);
  const end = text.indexOf(`\n${rank}`, start);
  return end < 0 ? text.slice(start) : text.slice(start, end);
}

/** The numbered rows: `| 1 | `Class.name` | [room/file.ts](../packages/…) | what happens |`. */
function hopsIn(text: string): Hop[] {
  return [...text.matchAll(/^\| \d+ \| (?:`([^`]+)` \| \[[^\]]+\]\(\.\.\/([^)]+)\)|\*\*your handler\*\*) \|/gm)].map(
    ([, name, file]) => (name === undefined || file === undefined ? HANDLER : { name, file }),
  );
}

function filesIn(text: string): string[] {
  return [...text.matchAll(/\]\(\.\.\/(packages\/[^)]+\.ts)\)/g)].map(([, file]) => file as string);
}

const text = ({ name, file }: Hop) => `${name} (${file})`;

describe("the walk of a change, as docs/architecture.md tells it", () => {
  const dequeue = hops.find(({ name }) => name === "WorkQueue.#run") as Hop;
  const toHandler = hops.slice(hops.indexOf(dequeue), hops.indexOf(HANDLER));
  let seen: Walk;

  beforeAll(async () => {
    seen = await follow({ hops: hops.filter((hop) => hop !== HANDLER), dequeue, last: hops.at(-1) as Hop });
  }, 240_000);

  it("comes by the functions that it names, in this order, and by none of them at another time", () => {
    expect(seen.hits.map(text)).toEqual(hops.map(text));
  });

  it("names every file that runs between the queue and the handler", () => {
    const named = new Set([...hops.map(({ file }) => file), ...onTheWay]);
    // What the socket brings meanwhile is read meanwhile: that is no part of this way.
    const ran = seen.between.filter(
      (file) => /^packages\/(?:lotse|client)\/src\//.test(file) && !file.includes("/transport/http1/"),
    );
    expect(ran).toContain("packages/lotse/src/turn/turn.ts");
    expect(ran.filter((file) => !named.has(file))).toEqual([]);
    // And the other way round: what is said to be asked there is.
    expect(onTheWay.filter((file) => !ran.includes(file))).toEqual([]);
  });

  it("goes from the queue to the handler through the files that it names, and no others call on", () => {
    const from = seen.stack.indexOf(dequeue.file);
    const between = seen.stack.slice(0, from + 1).filter((file) => file.startsWith("packages/"));
    const files = new Set(toHandler.map(({ file }) => file));
    // Without OpenTelemetry in the project nothing is traced; here it is installed.
    files.add("packages/lotse/src/report/traces.ts");
    expect([...new Set(between)].sort()).toEqual([...files].sort());
  });

  it("is short: at most 60 functions in 30 files, and 5 files from the queue to the handler", () => {
    expect(hops.length).toBeLessThanOrEqual(60);
    expect(new Set(hops.map(({ file }) => file)).size).toBeLessThanOrEqual(30);
    expect(new Set(toHandler.map(({ file }) => file)).size).toBeLessThanOrEqual(5);
  });

  it("numbers its functions one by one", () => {
    const numbers = [...walk.matchAll(/^\| (\d+) \|/gm)].map(([, number]) => Number(number));
    expect(numbers).toEqual(hops.map((_, index) => index + 1));
  });
});

describe("the walk of a request, as docs/architecture.md tells it", () => {
  const request = hopsIn(sectionOf(page, "## The walk of a request"));

  it("has at most 30 functions", () => {
    expect(request.length).toBeGreaterThan(10);
    expect(request.length).toBeLessThanOrEqual(30);
  });

  it.each(request)("$name is in $file", ({ name, file }) => {
    const source = readFileSync(fileURLToPath(new URL(`../../${file}`, import.meta.url)), "utf8");
    const [method, owner] = name.split(".").reverse() as [string, string | undefined];
    const declared = owner === undefined ? `function ${method}(` : `\n  (?:async )?${method}\\(`;
    expect(source).toMatch(owner === undefined ? declared : new RegExp(declared));
    if (owner !== undefined) expect(source).toContain(`class ${owner} `);
  });
});

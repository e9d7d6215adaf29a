import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { Readable } from "node:stream";
import { pathToFileURL } from "node:url";
import { describe, expect, it, onTestFinished } from "vitest";
import { ConfigMap, Pod } from "../builtin/index.ts";
import { TestServer } from "../fixtures/index.ts";
import { defineKind, KubeObject, ManifestError } from "../objects/index.ts";
import { failure } from "../test-failure.ts";
import { patternOf } from "./manifest-files.ts";
import { fromManifest, loadManifests, readDocuments } from "./manifests.ts";
import { echo, testClient } from "./test-cluster.ts";

const map = (name: string) => `apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: ${name}\n`;

async function folder(files: Record<string, string>): Promise<string> {
  const root = await mkdtemp(join(tmpdir(), "lotse-manifests-"));
  onTestFinished(() => rm(root, { recursive: true }));
  for (const [name, text] of Object.entries(files)) {
    await mkdir(dirname(join(root, name)), { recursive: true });
    await writeFile(join(root, name), text);
  }
  return root;
}

const namesOf = (objects: readonly KubeObject[]) => objects.map(({ name }) => name);

const failureOf = (source: Parameters<typeof loadManifests>[0]) => failure(loadManifests(source));

describe("loadManifests", () => {
  it("reads several documents, and skips empty ones and comments", async () => {
    const text = `# first\n---\n${map("a")}---\n# nothing here\n---\n\n--- # behind the marker\n${map("b")}...\n`;
    const objects = await loadManifests({ text });
    expect(namesOf(objects)).toEqual(["a", "b"]);
    expect(objects[0]).toBeInstanceOf(ConfigMap);
  });

  it("flattens lists, and gives items of typed lists their kind", async () => {
    const list = {
      apiVersion: "v1",
      kind: "List",
      items: [JSON.parse('{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p"}}')],
    };
    const typed = { apiVersion: "v1", kind: "ConfigMapList", items: [{ metadata: { name: "m" } }] };
    const objects = await loadManifests({ text: JSON.stringify([list, typed]) });
    expect(objects[0]).toBeInstanceOf(Pod);
    expect(objects[1]?.body).toMatchObject({ apiVersion: "v1", kind: "ConfigMap", metadata: { name: "m" } });
  });

  it("keeps dates and large numbers texts where they are texts, and merges anchors", async () => {
    const text = `apiVersion: v1\nkind: ConfigMap\nmetadata: &m { name: a }\ndata:\n  day: 2026-01-01\n  same: { <<: *m }\n`;
    const [object] = await loadManifests({ text });
    expect(object?.body.data).toEqual({ day: "2026-01-01", same: { name: "a" } });
  });

  it("reads a file, a folder, its folders, a pattern and a file URL", async () => {
    const root = await folder({
      "b.yml": map("b"),
      "a.yaml": map("a"),
      "c.json": JSON.stringify({ apiVersion: "v1", kind: "ConfigMap", metadata: { name: "c" } }),
      "readme.md": "no manifest: [",
      "deep/d.yaml": map("d"),
      "deep/er/e.yaml": map("e"),
    });
    expect(namesOf(await loadManifests(root))).toEqual(["a", "b", "c"]);
    expect(namesOf(await loadManifests(root, { recursive: true }))).toEqual(["a", "b", "c", "d", "e"]);
    expect(namesOf(await loadManifests(join(root, "a.yaml")))).toEqual(["a"]);
    expect(namesOf(await loadManifests(pathToFileURL(join(root, "b.yml"))))).toEqual(["b"]);
    expect(namesOf(await loadManifests(join(root, "*.{yaml,yml}")))).toEqual(["a", "b"]);
    expect(namesOf(await loadManifests(join(root, "**/*.yaml")))).toEqual(["a", "d", "e"]);
    expect(namesOf(await loadManifests(join(root, "deep/?.yaml")))).toEqual(["d"]);
  });

  it("reads a stream whose chunks cut characters", async () => {
    const bytes = Buffer.from(map("ü"));
    const objects = await loadManifests(Readable.from([bytes.subarray(0, 50), bytes.subarray(50)]));
    expect(namesOf(objects)).toEqual(["ü"]);
  });

  it("reads an address, and says when that fails", async () => {
    await using server = await TestServer.start((request, response) => {
      response.writeHead(request.url === "/ok.yaml" ? 200 : 404).end(map("far"));
    });
    expect(namesOf(await loadManifests(new URL("/ok.yaml", server.url)))).toEqual(["far"]);
    expect(await failureOf(new URL("/none.yaml", server.url))).toMatchObject({
      message: `${server.url}/none.yaml: the server answered 404`,
    });
    expect(await failureOf(new URL("ftp://x/y"))).toMatchObject({ code: "LOTSE_CONFIG" });
  });

  it("says in which line of which file an error is, counted over all documents", async () => {
    const root = await folder({ "bad.yaml": `${map("a")}---\n${map("b")}data: { x: [1, 2\n` });
    const error = await failureOf(join(root, "bad.yaml"));
    expect(error).toBeInstanceOf(ManifestError);
    expect(error).toMatchObject({ file: join(root, "bad.yaml"), line: expect.any(Number) });
    expect((error as ManifestError).line).toBeGreaterThan(9);
    const seventh = [
      "apiVersion: v1",
      "kind: Pod",
      "metadata:",
      "  name: a",
      "spec:",
      "  containers:",
      "\t- name: x",
    ].join("\n");
    expect(await failureOf({ text: seventh, name: "pod.yaml" })).toMatchObject({
      message: expect.stringMatching(/^pod\.yaml:7: this is not YAML: /),
    });
  });

  it("says which document is no manifest", async () => {
    expect(await failureOf({ text: `${map("a")}---\n# why\nmetadata:\n  name: b\n` })).toMatchObject({
      message: 'the manifest:7: the manifest of "b" has no apiVersion',
      line: 7,
    });
    expect(await failureOf({ text: "just words" })).toMatchObject({
      message: expect.stringContaining('not "just words"'),
    });
  });

  it("says where there is nothing to read", async () => {
    const root = await folder({ "x.txt": "" });
    expect(await failureOf(join(root, "none.yaml"))).toMatchObject({
      message: expect.stringContaining("no such file"),
    });
    expect(await failureOf(root)).toMatchObject({ message: expect.stringContaining("there is no .yaml") });
    expect(await failureOf(join(root, "*.yaml"))).toMatchObject({
      message: expect.stringContaining("no file matches"),
    });
  });

  it("takes the classes and the connection of a client", async () => {
    class Widget extends defineKind({ group: "example.com", version: "v1", kind: "Widget" }) {}
    const { client, transport } = await testClient(echo, { kinds: [Widget] });
    const [widget] = await loadManifests(
      { text: "{apiVersion: example.com/v1, kind: Widget, metadata: {name: w}}" },
      { client },
    );
    expect(widget).toBeInstanceOf(Widget);
    await widget?.refresh();
    expect(transport.log).toEqual(["GET /apis/example.com/v1/namespaces/default/widgets/w"]);
  });
});

describe("fromManifest", () => {
  it("finds the built-in class, and takes other kinds as they are", () => {
    expect(fromManifest({ apiVersion: "v1", kind: "Pod" })).toBeInstanceOf(Pod);
    const other = fromManifest({ apiVersion: "example.com/v1", kind: "Thing" });
    expect(other.constructor).toBe(KubeObject);
    expect(other.hasDescription).toBe(false);
  });
});

describe("a pattern", () => {
  it.each([
    ["**/*.yaml", "a.yaml", true],
    ["**/*.yaml", "x/y/a.yaml", true],
    ["*/a.yaml", "x/y/a.yaml", false],
    ["[!a]*.yaml", "a.yaml", false],
    ["[ab].yaml", "b.yaml", true],
    ["a.yaml", "axyaml", false],
    ["x/**", "x/y/z", true],
  ])("%s and %s: %s", (pattern, path, fits) => {
    expect(patternOf(pattern.split("/")).test(path)).toBe(fits);
  });
});

describe("readDocuments", () => {
  it("reads what is no manifest, in YAML and JSON, with dates as texts", async () => {
    expect(await readDocuments("size: 3\nat: 2026-01-01\n---\n- a\n")).toEqual([{ size: 3, at: "2026-01-01" }, ["a"]]);
    expect(await readDocuments('{"size": 3}')).toEqual([{ size: 3 }]);
    expect(await readDocuments("")).toEqual([]);
  });

  it("names the file and the line of a mistake", async () => {
    await expect(readDocuments("size: 3\nrules: [\n", "plan.yaml")).rejects.toThrow(/plan\.yaml/);
  });
});

/** YAML that a client sends, through the whole server: what it refuses, and that it goes on answering others. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Cluster } from "./index.ts";
import { APPLY, CONFIG_MAPS, call } from "./test-requests.ts";

let cluster: Cluster;
beforeAll(async () => {
  cluster = await Cluster.start({ tls: false });
});
afterAll(() => cluster.stop());

const HEAD = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\n";
const post = (body: string, query = "") =>
  call(cluster, "POST", `${CONFIG_MAPS}${query}`, { type: "application/yaml", body });
const apply = (body: string, query = "") =>
  call(cluster, "PATCH", `${CONFIG_MAPS}/a?fieldManager=me${query}`, { type: APPLY, body });

describe("YAML in a request", () => {
  it("cannot grow by aliases, nor contain itself", async () => {
    const levels = Array.from({ length: 9 }, (_, i) => `a${i + 1}: &a${i + 1} [${Array(9).fill(`*a${i}`).join(",")}]`);
    const bomb = `${HEAD}a0: &a0 [x]\n${levels.join("\n")}\n`;
    for (const send of [post, apply]) {
      const grown = await send(bomb);
      expect(grown.status).toBe(400);
      expect(grown.body.message).toContain("yaml: document contains excessive aliasing");
      const circle = await send(`${HEAD}data: &d\n  k: *d\n`);
      expect(circle.status).toBe(400);
      expect(circle.body.message).toContain("yaml: anchor 'd' value contains itself");
    }
  });

  it("tells of thirty thousand keys that are there twice, as errors or as far as warnings go", async () => {
    const keys = (from: string, length = 30_000) => Array.from({ length }, (_, i) => `  ${from}${i}: v`).join("\n");
    const body = `${HEAD}data:\n${keys("k")}\n${keys("k")}\n`;
    const strict = await post(body, "?fieldValidation=Strict");
    expect(strict.status).toBe(400);
    expect(strict.body.message).toContain('yaml: unmarshal errors:\n  line 30006: key "k0" already set in map\n');
    expect(strict.body.message.match(/already set in map/g)).toHaveLength(30_000);
    const fewer = `${HEAD}data:\n${keys("k", 3_000)}\n${keys("k", 3_000)}\n`;
    const warned = await post(fewer, "?dryRun=All");
    expect(warned.status).toBe(201);
    expect(warned.warnings[0]).toBe('299 - "line 3006: key \\"k0\\" already set in map"');
    expect(warned.warnings.length).toBeLessThan(200);
    const ignored = await post(fewer, "?dryRun=All&fieldValidation=Ignore");
    expect(ignored.warnings).toEqual([]);
    const json = `{"apiVersion":"v1","kind":"ConfigMap","data":{${Array(30_000).fill('"k":"v"').join(",\n")}}}`;
    const applied = await apply(json, "&fieldValidation=Strict");
    expect(applied.body.message.match(/already set in map/g)).toHaveLength(29_999);
  });

  it("may be as large as any request", async () => {
    const keys = Array.from({ length: 60_000 }, (_, i) => `  k${i}: ""`).join("\n");
    const answer = await post(`${HEAD}data:\n${keys}\n`, "?dryRun=All");
    expect(answer.status).toBe(201);
    expect(Object.keys(answer.body.data)).toHaveLength(60_000);
    const over = await post(`${HEAD}data:\n  k: ${"x".repeat(3 * 1024 * 1024)}\n`);
    expect(over.status).toBe(413);
  });

  it("counts up to the end of its first document", async () => {
    const answer = await post(`# two\n---\n${HEAD}data:\n  on: "yes"\n---\n{ never read`, "?dryRun=All");
    expect(answer.status).toBe(201);
    expect(answer.body.data).toEqual({ true: "yes" });
  });
});

describe("YAML in an answer", () => {
  const read = async (path: string) => {
    const answer = await fetch(`${cluster.url}${path}`, {
      headers: { accept: "application/yaml", authorization: `Bearer ${cluster.token}` },
    });
    return { status: answer.status, type: answer.headers.get("content-type"), text: await answer.text() };
  };

  it("looks as that of a real server: keys in order, lists not indented, double quotes, long lines folded", async () => {
    const long = `${"word ".repeat(40)}end`;
    const data = { number: "1", truth: "true", lines: "a\nb\n", long };
    await call(cluster, "POST", CONFIG_MAPS, {
      body: { kind: "ConfigMap", metadata: { name: "style", finalizers: ["example.com/a"] }, data },
    });
    const { type, text } = await read(`${CONFIG_MAPS}/style`);
    expect(type).toBe("application/yaml");
    expect(text).toMatch(/^apiVersion: v1\ndata:\n {2}lines: \|\n {4}a\n {4}b\n {2}long: word word /);
    const words = (count: number) => Array.from({ length: count }, () => "word").join(" ");
    const folded = `${words(15)}\n    ${words(16)}\n    ${words(9)} end`;
    expect(text).toContain(`\n  long: ${folded}\n  number: "1"\n  truth: "true"\nkind: ConfigMap\n`);
    expect(text).toMatch(/\n {2}finalizers:\n {2}- example.com\/a\n/);
  });

  it("tells errors, too", async () => {
    const { status, type, text } = await read(`${CONFIG_MAPS}/none`);
    expect([status, type]).toEqual([404, "application/yaml"]);
    expect(text).toBe(
      'apiVersion: v1\ncode: 404\ndetails:\n  kind: configmaps\n  name: none\nkind: Status\nmessage: configmaps "none" not found\nmetadata: {}\nreason: NotFound\nstatus: Failure\n',
    );
  });
});

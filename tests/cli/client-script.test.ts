/** What docs/client.md says of running a script holds for the Node.js that runs this test. */
import { readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Outcome, run } from "../run.ts";
import { Project } from "./project.ts";

const page = readFileSync(new URL("../../docs/client.md", import.meta.url), "utf8");

/** The row of the table that this Node.js belongs to: the last one that is not newer. */
function rowFor(version: string): { plain: string; using: string } {
  const rows = [...page.matchAll(/^\| v(\d+(?:\.\d+)?) \| (yes|no) \| (yes|no) \|$/gm)];
  const number = (text: string) => {
    const [major = 0, minor = 0] = text.split(".").map(Number);
    return major * 1_000 + minor;
  };
  const [, , plain = "", using = ""] = rows.findLast(([, from = ""]) => number(from) <= number(version)) ?? [];
  return { plain, using };
}

const PLAIN = `
import { Client, ConfigMap } from "@lotse/client";
const client = await Client.connect({ url: "http://nobody.example.com" });
const name: string = ConfigMap.gen({ name: "works" }).name;
console.log(name);
await client.close();
`;
const USING = PLAIN.replace("const client", "await using client").replace("await client.close();", "");

describe("a script of the client", () => {
  let project: Project;

  beforeAll(() => {
    project = new Project();
    project.write("plain.ts", PLAIN);
    project.write("using.ts", USING);
  }, 300_000);

  afterAll(() => project.remove());

  const runs = async (file: string): Promise<string> => {
    const { exitCode, stdout }: Outcome = await run(process.execPath, [file], { cwd: project.folder });
    expect(exitCode === 0).toBe(stdout === "works\n");
    return exitCode === 0 ? "yes" : "no";
  };

  it("runs by node alone where the table says so, and nowhere else", async () => {
    expect({ plain: await runs("plain.ts"), using: await runs("using.ts") }).toEqual(rowFor(process.versions.node));
  });

  it("has a row for every Node.js that is supported", () => {
    expect(rowFor("20.19.0")).toEqual({ plain: "no", using: "no" });
    expect(rowFor("22.17.1")).toEqual({ plain: "no", using: "no" });
    expect(rowFor("22.18.0")).toEqual({ plain: "yes", using: "no" });
    expect(rowFor("26.0.0")).toEqual({ plain: "yes", using: "yes" });
  });
});

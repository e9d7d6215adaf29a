import type { Script } from "../script.ts";
import { post } from "./requests.ts";

const all = "/api/v1/namespaces/{{ns}}/configmaps";
const head = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: told\n";
const bomb = Array.from({ length: 9 }, (_, i) => `a${i + 1}: &a${i + 1} [${Array(9).fill(`*a${i}`).join(",")}]`);
const dryRun = "All" as const;

const texts: readonly (readonly [name: string, text: string])[] = [
  ["aliases that grow", `${head}a0: &a0 [x]\n${bomb.join("\n")}\n`],
  ["what contains itself", `${head}data: &d\n  k: *d\n`],
  ["an alias of nothing", `${head}data: *nothing\n`],
  ["an alias", `${head}data: &d\n  k: v\nbinaryData: {}\nimmutable: true\n`],
  ["merged keys", `x: &x {k: v, l: w}\n${head}data:\n  <<: *x\n  l: own\n`],
  ["a merge of no mapping", `x: &x 1\n${head}data:\n  <<: *x\n`],
  ["words of YAML 1.1 as keys", `${head}data:\n  on: "1"\n  no: "2"\n  y: "3"\n`],
  ["numbers as keys", `${head}data:\n  1: "a"\n  010: "b"\n  1.5: "c"\n`],
  ["a word where a text is meant", `${head}data:\n  a: yes\n`],
  ["a number where a text is meant", `${head}data:\n  a: 010\n`],
  ["a time where a text is meant", `${head}data:\n  a: 2026-01-01\n`],
  ["tags", `${head}data:\n  a: !!str 1\n  b: !own x\n`],
  ["a tag that lies", `${head}data:\n  a: !!int x\n`],
  ["an infinite number", `${head}data:\n  a: .inf\n`],
  ["two documents", `${head}data:\n  a: b\n---\n{ nonsense`],
  ["a document with a beginning", `# told\n---\n${head}`],
  ["nothing", "# nothing\n"],
  ["many keys twice", `${head}data:\n  a: b\n  a: |\n    c\n  a: {}\nkind: ConfigMap\n`],
  ["a control character", `${head}data:\n  a: \u0001\n`],
];

/** What YAML means to the server, and what it refuses of it. */
export const yaml: Script = {
  title: "YAML",
  namespace: "diff-yaml",
  steps: texts.flatMap(([name, text]) => [
    post(`creates from ${name}`, all, text, { contentType: "application/yaml", query: { dryRun } }),
    post(`creates strictly from ${name}`, all, text, {
      contentType: "application/yaml",
      query: { dryRun, fieldValidation: "Strict" },
    }),
  ]),
};

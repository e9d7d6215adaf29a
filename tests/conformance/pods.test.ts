import type { SimulatedRun } from "@lotse/cluster";
import { describe, expect, it } from "vitest";
import { modeText, scriptOf } from "./pods.ts";
import { admit, convert } from "./webhooks.ts";

function runOf(env: Record<string, string> = {}, files: Record<string, string> = {}, index = "0") {
  const lines: string[] = [];
  const bytes = (text: string) => ({ bytes: new TextEncoder().encode(text), mode: 0o640 });
  const run = {
    pod: {
      body: { metadata: { uid: "u", annotations: { "batch.kubernetes.io/job-completion-index": index } }, spec: {} },
    },
    attempt: 0,
    env,
    files: () => new Map(Object.entries(files).map(([path, text]) => [path, bytes(text)])),
    log: (line: string) => void lines.push(line),
    signal: new AbortController().signal,
  } as unknown as SimulatedRun;
  return { run, lines };
}

const play = async (words: string[], { run, lines }: ReturnType<typeof runOf>, markers = new Set<string>()) => {
  const code = await scriptOf({}, words, markers)?.(run);
  return { code, lines };
};

describe("containers of the conformance suite", () => {
  it("end as their commands say", async () => {
    expect((await play(["sh", "-c", "exit 3"], runOf())).code).toBe(3);
    expect((await play(["/bin/false"], runOf())).code).toBe(1);
    const index = `$${"{JOB_COMPLETION_INDEX}"}`;
    const odd = ["sh", "-c", `if [ $(expr ${index} % 2) -ne 0 ]; then exit 1; else exit 0; fi`];
    expect([(await play(odd, runOf({}, {}, "3"))).code, (await play(odd, runOf({}, {}, "4"))).code]).toEqual([1, 0]);
    expect(scriptOf({}, ["nginx"], new Set())).toBeUndefined();
  });

  it("fail once where they leave a mark", async () => {
    const markers = new Set<string>();
    const words = ["/bin/sh", "-c", "if [[ -r /data/foo ]] then exit 0 else touch /data/foo exit 1 fi"];
    const codes = [(await play(words, runOf(), markers)).code, (await play(words, runOf(), markers)).code];
    expect(codes).toEqual([1, 0]);
  });

  it("show their variables and files", async () => {
    expect((await play(["sh", "-c", "env"], runOf({ A: "1" }))).lines).toEqual(["A=1"]);
    const files = { "/etc/a": "alpha" };
    const words = ["mounttest", "--file_content=/etc/a", "--file_mode=/etc/a"];
    expect(await play(words, runOf({}, files))).toEqual({
      code: 0,
      lines: ['mode of file "/etc/a": -rw-r-----', 'content of file "/etc/a": alpha'],
    });
    expect((await play(["mounttest", "--file_content=/etc/b"], runOf({}, files))).code).toBe(1);
    expect(scriptOf({}, ["mounttest", "--fs_type=/x"], new Set())).toBeUndefined();
    expect(modeText(0o755)).toBe("-rwxr-xr-x");
  });
});

describe("webhooks of the conformance suite", () => {
  it("allow, deny and change what they are asked about", async () => {
    const ask = (path: string, object: object, operation = "CREATE") =>
      admit(path, { uid: "u", operation, object: object as never, oldObject: object as never });
    expect((await ask("/always-deny", {})).allowed).toBe(false);
    expect(await ask("/add-label", { metadata: { labels: { a: "b" } } })).toMatchObject({
      patch: [{ path: "/metadata/labels/added-label" }],
    });
    expect((await ask("/configmaps", { data: { "webhook-e2e-test": "webhook-nondeletable" } }, "DELETE")).allowed).toBe(
      false,
    );
    expect((await ask("/mutating-configmaps", { data: { "mutation-start": "yes" } })).patch).toHaveLength(1);
  });

  it("convert there and back", () => {
    const first = { apiVersion: "stable.example.com/v1", hostPort: "localhost:8080" };
    const second = convert(first, "stable.example.com/v2");
    expect(second).toEqual({ apiVersion: "stable.example.com/v2", host: "localhost", port: "8080" });
    expect(convert(second, "stable.example.com/v1")).toEqual(first);
  });
});

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { CustomResourceDefinition } from "@lotse/client";
import { toYaml, toYamlStream } from "@lotse/client/meta";
import { Cluster } from "@lotse/cluster";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { resource } from "../../declare/index.ts";
import { main } from "../main.ts";
import { testIo } from "../terminal/test-io.ts";

const Ship = resource({
  group: "ships.example.com",
  version: "v1",
  kind: "Ship",
  spec: z.object({ sails: z.int() }),
});
const Harbour = resource({ group: "ships.example.com", version: "v1", kind: "Harbour", spec: z.object({}) });

let cwd: string;

beforeAll(() => {
  cwd = mkdtempSync(path.join(os.tmpdir(), "lotse-types-"));
  write("ships.yaml", toYamlStream([Ship.crd(), { apiVersion: "v1", kind: "ConfigMap" }, Harbour.crd()]));
  write("rest.yaml", toYaml({ apiVersion: "v1", kind: "ConfigMap", metadata: { name: "x" } }));
  write("empty.yaml", "# nothing\n");
  write("broken.yaml", "a: [\n");
});

afterAll(() => rmSync(cwd, { recursive: true, force: true }));

const write = (name: string, text: string) => writeFileSync(path.join(cwd, name), text);

async function call(...argv: string[]) {
  const io = testIo({ cwd });
  const code = await main(["generate", "types", ...argv], io);
  return { code, out: io.out(), err: io.err() };
}

describe("lotse generate types", () => {
  it("makes types of all definitions in a file", async () => {
    const { code, out, err } = await call("ships.yaml");
    expect({ code, err }).toEqual({ code: 0, err: "" });
    expect(out).toContain("export interface ShipSpec {\n  sails: number;\n}");
    expect(out).toContain("export class Harbour extends defineKind<HarbourBody>({");
  });

  it("writes them where it is told to", async () => {
    expect(await call("ships.yaml", "-o", "src")).toEqual({ code: 0, out: "src/types.ts\n", err: "" });
    expect(readFileSync(path.join(cwd, "src/types.ts"), "utf8")).toContain("export class Ship ");
  });

  it.each([
    [
      "no source",
      [],
      2,
      "Error: nothing is named to make types of\nDo:    name a file with definitions (crd.yaml), or a kind of the cluster (certificates.cert-manager.io)\n",
    ],
    [
      "a file that is not there",
      ["nobody.yaml"],
      2,
      "Error: there is no file nobody.yaml\nDo:    check the path; it counts from the working directory\n",
    ],
    [
      "a file of something else",
      ["rest.yaml"],
      1,
      "Error: rest.yaml has no CustomResourceDefinition\nWhy:   it has ConfigMap\nDo:    name a file with definitions of apiextensions.k8s.io/v1\n",
    ],
    [
      "an empty file",
      ["empty.yaml"],
      1,
      "Error: empty.yaml has no CustomResourceDefinition\nWhy:   it has no objects\nDo:    name a file with definitions of apiextensions.k8s.io/v1\n",
    ],
    [
      "a version that does not exist",
      ["ships.yaml", "--api-version", "v2"],
      1,
      "Error: Ship has no version v2\nDo:    it has v1\n",
    ],
  ])("says what is wrong with %s", async (_what, argv, exitCode, message) => {
    expect(await call(...argv)).toEqual({ code: exitCode, out: "", err: message });
  });

  it("says where a file is not YAML", async () => {
    const { code, err } = await call("broken.yaml");
    expect(code).toBe(1);
    expect(err).toMatch(/^Error: .*broken\.yaml.*not YAML/);
  });

  describe("from a cluster", () => {
    let cluster: Cluster;

    beforeAll(async () => {
      cluster = await Cluster.start();
      await cluster.writeKubeconfig(path.join(cwd, "kubeconfig"));
      const client = await cluster.connect();
      const crd = await client.create(new CustomResourceDefinition(Ship.crd(), client));
      await crd.wait("condition=Established");
      await client.close();
    });

    afterAll(() => cluster.stop());

    const ask = (...argv: string[]) => call(...argv, "--kubeconfig", "kubeconfig");

    it.each(["ships.ships.example.com", "ship", "Ship"])("finds a kind by its name %s", async (name) => {
      const { code, out, err } = await ask(name);
      expect({ code, err }).toEqual({ code: 0, err: "" });
      expect(out).toContain("export interface ShipSpec {\n  sails: number;\n}");
    });

    it("names similar kinds when there is none of the name", async () => {
      const { code, err } = await ask("shipps");
      expect(code).toBe(1);
      expect(err).toBe(`Error: the cluster at ${cluster.url} has no kind shipps\nDo:    did you mean ships?\n`);
    });

    it("says that kinds of Kubernetes itself are there already", async () => {
      expect(await ask("deployments")).toEqual({
        code: 1,
        out: "",
        err: [
          "Error: Deployment has no definition in the cluster",
          "Why:   it belongs to Kubernetes itself",
          'Do:    import it: import { Deployment } from "lotse/client";',
          "",
        ].join("\n"),
      });
    });
  });
});

// The bed: a real kube-apiserver, the kind that everybody handles, and the log that tells who wrote what.
import { closeSync, fstatSync, mkdtempSync, openSync, readSync, rmSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
// Lets this process import the repository's TypeScript files; what is measured runs from dist, in other processes.
import "../../scripts/typescript.mjs";
import { Failure } from "../../scripts/process.mjs";
import { group, widgetCrd, widgetsIn } from "../widgets.mjs";
import { Api, inParallel, userAgent } from "./api.mjs";

export { widgetsIn } from "../widgets.mjs";

export const configMapsIn = (namespace) => `/api/v1/namespaces/${namespace}/configmaps`;

export const widget = (name, size) => ({
  apiVersion: `${group}/v1`,
  kind: "Widget",
  metadata: { name },
  spec: { size },
});

/** One CRD for all: its status keeps the records of Lotse and of Kopf, so that each can do with one PATCH. */
const crd = widgetCrd(
  { type: "object", properties: { size: { type: "number" } } },
  { type: "object", properties: { size: { type: "number" } }, "x-kubernetes-preserve-unknown-fields": true },
);

/** Facts without bodies: what the tests of the real cluster log would cost the server more than the work itself. */
const auditPolicy = {
  apiVersion: "audit.k8s.io/v1",
  kind: "Policy",
  omitStages: ["RequestReceived"],
  rules: [{ level: "None", users: ["system:apiserver"] }, { level: "Metadata" }],
};

/** See above. Nothing of it outlives {@link Bed.stop}. */
export class Bed {
  #cluster;
  #folder;
  #isWrite;
  #log;
  #offset = 0;
  api;
  kubeconfigFile;

  static async start(connections, log, flags = []) {
    const { buildServers, GoMissingError } = await import("../../tests/real/build.ts");
    const { RealCluster } = await import("../../tests/real/cluster.ts");
    const { isWrite } = await import("../../tests/real/audit.ts");
    await buildServers(log).catch((error) => {
      throw error instanceof GoMissingError ? new Failure(error.message, 2) : error;
    });
    const bed = new Bed();
    bed.#isWrite = isWrite;
    bed.#folder = mkdtempSync(path.join(os.tmpdir(), "lotse-bench-"));
    try {
      const policy = path.join(bed.#folder, "audit-policy.json");
      writeFileSync(policy, JSON.stringify(auditPolicy));
      bed.#cluster = await RealCluster.start({
        controllers: [], // nobody else shall write, nor take the processor
        flags: [`--audit-policy-file=${policy}`, "--audit-log-maxsize=100000", ...flags],
      });
      bed.kubeconfigFile = path.join(bed.#folder, "kubeconfig");
      bed.#cluster.writeKubeconfig(bed.kubeconfigFile);
      bed.#log = openSync(path.join(bed.#cluster.folder, "audit.log"), "r");
      bed.api = new Api(bed.#cluster.kubeconfig, connections);
      await bed.#installKind();
      await bed.#warmUp();
      return bed;
    } catch (error) {
      await bed.stop();
      throw error;
    }
  }

  get folder() {
    return this.#folder;
  }

  async #installKind() {
    await this.api.send("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", crd);
    for (let tries = 0; ; tries++) {
      try {
        return await this.api.get(widgetsIn("default"));
      } catch (error) {
        if (tries === 200) throw error;
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
    }
  }

  /** The server's first requests for a kind cost more than all others: nobody shall pay for them. */
  async #warmUp() {
    const path = widgetsIn("default");
    await inParallel(500, 10, async (index) => {
      const name = `warm-${index}`;
      await this.api.send("POST", path, widget(name, 1));
      await this.api.merge(`${path}/${name}/status`, { status: { size: 1 } });
      await this.api.send("DELETE", `${path}/${name}`);
    });
  }

  async createNamespace(name) {
    const body = { apiVersion: "v1", kind: "Namespace", metadata: { name } };
    await this.api.send("POST", "/api/v1/namespaces", body);
  }

  /** The contestant's writes since the last call: how many succeeded, and how many were refused. */
  takeWrites() {
    const { size } = fstatSync(this.#log);
    const buffer = Buffer.alloc(size - this.#offset);
    readSync(this.#log, buffer, 0, buffer.length, this.#offset);
    // The server may be in the middle of a line.
    const end = buffer.lastIndexOf(10) + 1;
    this.#offset += end;
    const writes = { done: 0, refused: 0 };
    for (const line of buffer.toString("utf8", 0, end).split("\n")) {
      if (line === "" || line.includes(`"userAgent":"${userAgent}"`)) continue;
      const { stage, verb, user, objectRef, responseStatus } = JSON.parse(line);
      const resource = [objectRef?.resource, objectRef?.apiGroup].filter(Boolean).join(".");
      if (stage !== "ResponseComplete" || user.username.startsWith("system:") || !this.#isWrite(verb, resource))
        continue;
      if ((responseStatus?.code ?? 200) < 400) writes.done++;
      else writes.refused++;
    }
    return writes;
  }

  async stop() {
    this.api?.close();
    if (this.#log !== undefined) closeSync(this.#log);
    await this.#cluster?.stop();
    rmSync(this.#folder, { recursive: true, force: true, maxRetries: 5 });
  }
}

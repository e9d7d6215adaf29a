/** One start for nobody, so that V8 has compiled what a start needs, and it is kept for all that follow. */
import { mkdtemp, rm } from "node:fs/promises";
import { Agent, request } from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Cluster } from "../cluster.ts";
import { openPortEarly } from "../transport/index.ts";
import { findData } from "./data-place.ts";
import { startEtcd } from "./etcd.ts";
import { type FlagTable, type FlagValues, readFlags } from "./flags.ts";
import { API_SERVER_ENTRY, type ApiServerModule, packBeside } from "./packed.ts";
import { API_SERVER_FLAGS, ETCD_FLAGS } from "./tables.ts";

const HOST = "127.0.0.1";

/** Starts both programs inside this process, asks for what tests ask for first, and keeps what that compiled. */
export async function prepareStart(env: Readonly<Record<string, string | undefined>>): Promise<boolean> {
  const pack = packBeside(env);
  const folder = await mkdtemp(join(tmpdir(), "lotse-envtest-"));
  try {
    const etcd = await startEtcd(
      read([`--data-dir=${folder}`, `--listen-client-urls=http://${HOST}:0`, "--unsafe-no-fsync"], ETCD_FLAGS),
    );
    const { port } = etcd.address() as { port: number };
    const flags = [
      `--cert-dir=${join(folder, "certs")}`,
      "--authorization-mode=RBAC",
      "--disable-admission-plugins=ServiceAccount",
    ];
    const { startApiServer } = pack.load<ApiServerModule>(API_SERVER_ENTRY);
    const cluster = await startApiServer(read(flags, API_SERVER_FLAGS), {
      address: { host: HOST, port: 0 },
      openPort: await openPortEarly(HOST, 0),
      place: findData(`http://${HOST}:${port}`),
      warn: () => {},
    });
    await askFirst(cluster);
    await cluster.stop();
    etcd.closeAllConnections();
    etcd.close();
    return pack.keep();
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function read(argv: readonly string[], table: FlagTable): FlagValues {
  const flags = readFlags(argv, table);
  if (typeof flags === "string") throw new Error(flags);
  return flags;
}

const WIDGETS = {
  apiVersion: "apiextensions.k8s.io/v1",
  kind: "CustomResourceDefinition",
  metadata: { name: "widgets.example.com" },
  spec: {
    group: "example.com",
    names: { plural: "widgets", singular: "widget", kind: "Widget" },
    scope: "Namespaced",
    versions: [
      {
        name: "v1",
        served: true,
        storage: true,
        subresources: { status: {} },
        schema: {
          openAPIV3Schema: {
            type: "object",
            properties: { spec: { type: "object", properties: { size: { type: "integer", default: 1 } } } },
          },
        },
      },
    ],
  },
};

async function askFirst({ url, token, caPem }: Cluster): Promise<void> {
  const agent = new Agent({ ca: caPem, keepAlive: true });
  const ask = (method: string, path: string, body?: object): Promise<void> =>
    new Promise((resolve, reject) => {
      const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
      const call = request(`${url}${path}`, { method, agent, headers }, (response) => {
        response.resume().on("end", resolve);
      });
      call.on("error", reject);
      call.end(body && JSON.stringify(body));
    });
  const maps = "/api/v1/namespaces/default/configmaps";
  try {
    await ask("GET", "/healthz");
    await ask("GET", "/api");
    await ask("GET", "/apis");
    await ask("POST", maps, { metadata: { name: "one" }, data: { a: "b" } });
    await ask("GET", `${maps}/one`);
    await ask("GET", maps);
    await ask("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", WIDGETS);
  } finally {
    agent.destroy();
  }
}

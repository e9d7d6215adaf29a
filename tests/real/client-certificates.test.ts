import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { Agent, request } from "node:https";
import os from "node:os";
import path from "node:path";
import { Cluster } from "@lotse/cluster";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
// Made with openssl: `short` may sign no authorities, `one` some; `namedDns` is a stranger's.
import golden from "./client-certificates.golden.json" with { type: "json" };
import { RealCluster } from "./cluster.ts";

// Who shows which certificate, to servers that believe the authorities `short` and `one`.
const both = `${golden.short}${golden.one}`;
const shown = {
  "an authority has signed": { cert: golden.shortLeaf, key: golden.shortLeafKey },
  "one has signed that an authority has": { cert: `${golden.oneUnder}${golden.oneMid}`, key: golden.oneUnderKey },
  "one has signed that might not": { cert: `${golden.shortUnder}${golden.shortMid}`, key: golden.shortUnderKey },
  "a stranger has signed": { cert: golden.namedDns, key: golden.namedDnsKey },
};

interface Server {
  readonly url: string;
  readonly ca: string;
  readonly token: string;
  stop(): Promise<void>;
}

function serverOf(cluster: { url: string; kubeconfig: object; stop(): Promise<void> }): Server {
  const { clusters, users } = cluster.kubeconfig as {
    clusters: { cluster: { "certificate-authority-data": string } }[];
    users: { user: { token: string } }[];
  };
  const ca = Buffer.from(clusters[0]?.cluster["certificate-authority-data"] ?? "", "base64").toString();
  return { url: cluster.url, ca, token: users[0]?.user.token ?? "", stop: () => cluster.stop() };
}

/** Asks who one is; the status, and the name if there is one. */
function ask(server: Server, identity: { cert?: string; key?: string }, token?: string): Promise<unknown[]> {
  const body = JSON.stringify({ apiVersion: "authentication.k8s.io/v1", kind: "SelfSubjectReview" });
  return new Promise((resolve, reject) => {
    const call = request(
      new URL("/apis/authentication.k8s.io/v1/selfsubjectreviews", server.url),
      {
        method: "POST",
        agent: new Agent({ ca: server.ca, ...identity }),
        headers: { "content-type": "application/json", ...(token && { authorization: `Bearer ${token}` }) },
      },
      (answer) => {
        let text = "";
        answer.setEncoding("utf8").on("data", (chunk: string) => {
          text += chunk;
        });
        answer.on("end", () => {
          const { status } = JSON.parse(text) as { status?: { userInfo?: { username?: string } } };
          resolve([answer.statusCode, status?.userInfo?.username]);
        });
      },
    );
    call.on("error", reject);
    call.end(body);
  });
}

describe.each(["embedded", "real"])("a certificate that a client shows to the %s server", (kind) => {
  let server: Server;
  const folder = mkdtempSync(path.join(os.tmpdir(), "lotse-test-"));

  beforeAll(async () => {
    const file = path.join(folder, "clients.pem");
    writeFileSync(file, both);
    server = serverOf(
      kind === "real"
        ? await RealCluster.start({ controllers: [], flags: [`--client-ca-file=${file}`] })
        : await Cluster.start({ rbac: true, clientCa: both }),
    );
  });
  afterAll(async () => {
    await server?.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  it("says who it is when an authority has signed it, itself or by another", async () => {
    expect(await ask(server, shown["an authority has signed"])).toEqual([201, "shortLeaf"]);
    expect(await ask(server, shown["one has signed that an authority has"])).toEqual([201, "oneUnder"]);
  });

  it("is refused when a stranger has signed it, or one that might not: it is nobody, not even anonymous", async () => {
    expect(await ask(server, shown["a stranger has signed"])).toEqual([401, undefined]);
    expect(await ask(server, shown["one has signed that might not"])).toEqual([401, undefined]);
  });

  it("does no harm to who has a good token, too", async () => {
    expect(await ask(server, shown["a stranger has signed"], server.token)).toEqual([201, "kubernetes-admin"]);
  });

  it("is not needed: who shows none and sends no token is anonymous, and may not ask", async () => {
    const [status] = await ask(server, {});
    expect(status).toBe(403);
  });
});

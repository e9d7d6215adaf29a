import { once } from "node:events";
import { request as httpRequest } from "node:http";
import { request as httpsRequest } from "node:https";
import { type AddressInfo, connect } from "node:net";
import { describe, expect, it } from "vitest";
import { Cluster } from "./cluster.ts";
import { openPortEarly } from "./transport/index.ts";

/** Sends a request at once; resolves with the status, or with what went wrong. */
function ask(url: string): Promise<number | string> {
  return new Promise((resolve) => {
    const send = url.startsWith("https:") ? httpsRequest : httpRequest;
    const call = send(url, { rejectUnauthorized: false, agent: false }, (response) => {
      response.resume();
      resolve(response.statusCode ?? 0);
    });
    call.on("error", (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
    call.end();
  });
}

const portOf = ({ server }: Awaited<ReturnType<typeof openPortEarly>>) => (server.address() as AddressInfo).port;

describe("a port that is open before its cluster", () => {
  it.each([true, false])("answers those who came before it and those who come later (tls: %s)", async (tls) => {
    const openPort = await openPortEarly("127.0.0.1", 0);
    const url = `${tls ? "https" : "http"}://127.0.0.1:${portOf(openPort)}/version`;
    const early = [ask(url), ask(url)];
    await once(openPort.server, "connection");
    await using cluster = await Cluster.start({ openPort, tls });
    expect(cluster.port).toBe(Number(new URL(url).port));
    expect(await Promise.all(early)).toEqual([200, 200]);
    expect(await ask(url)).toBe(200);
    await cluster.stop();
    expect(await ask(url)).toBe("ECONNREFUSED");
  });

  it("does not mind those who leave before it is there", async () => {
    const openPort = await openPortEarly("127.0.0.1", 0);
    const port = portOf(openPort);
    const socket = connect(port, "127.0.0.1");
    await once(openPort.server, "connection");
    socket.resetAndDestroy();
    await once(socket, "close");
    await using cluster = await Cluster.start({ openPort });
    expect(await ask(`${cluster.url}/version`)).toBe(200);
  });

  it("tells at once that a port is taken", async () => {
    const { server } = await openPortEarly("127.0.0.1", 0);
    await expect(openPortEarly("127.0.0.1", (server.address() as AddressInfo).port)).rejects.toMatchObject({
      code: "EADDRINUSE",
    });
    server.close();
  });
});

/**
 * What stands in for etcd. It keeps nothing itself: it says where the data is, so that an API server that starts again
 * finds what the one before it wrote, for as long as this program runs and, as with etcd, also after it.
 */
import { mkdir } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import { join, resolve } from "node:path";
import { cannotListen } from "./address.ts";
import { DATA_PATH, type DataPlace } from "./data-place.ts";
import { EnvtestError } from "./errors.ts";
import type { FlagValues } from "./flags.ts";

const CLIENT_URL = "http://127.0.0.1:2379";

/** Listens until it is closed; resolves when it does. */
export async function startEtcd(flags: FlagValues): Promise<Server> {
  const urls = (flags.last("listen-client-urls") ?? CLIENT_URL).split(",");
  const url = URL.canParse(urls[0] ?? "") ? new URL(urls[0] as string) : undefined;
  if (url?.protocol !== "http:") {
    throw new EnvtestError(`--listen-client-urls=${urls[0]} is no address of plain HTTP`, "write http://HOST:PORT");
  }
  const folder = resolve(flags.last("data-dir") ?? "default.etcd");
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const sync = !/^(?:true|t|1)$/i.test(flags.last("unsafe-no-fsync") ?? "false");
  const place: DataPlace = { folder: join(folder, "lotse"), sync };
  const answers = new Map([
    ["/health", '{"health":"true","reason":""}'],
    ["/livez", "ok"],
    ["/readyz", "ok"],
    ["/version", '{"etcdserver":"3.6.0","etcdcluster":"3.6.0","storage":"3.6.0"}'],
    [DATA_PATH, JSON.stringify(place)],
  ]);
  const server = createServer((request, response) => {
    const body = answers.get((request.url ?? "").split("?", 1)[0] ?? "");
    response.writeHead(body === undefined ? 404 : 200, {
      "content-type": body?.startsWith("{") ? "application/json" : "text/plain",
    });
    response.end(body ?? "404 page not found\n");
  });
  await new Promise<void>((listening, reject) => {
    server.once("error", (error: NodeJS.ErrnoException) => reject(cannotListen(error, url.host)));
    server.listen(Number(url.port || 80), url.hostname.replace(/^\[|\]$/g, ""), listening);
  });
  return server;
}

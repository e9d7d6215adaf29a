/** Proxies that tests can look into. */
import { once } from "node:events";
import * as http from "node:http";
import * as https from "node:https";
import * as net from "node:net";
import { onTestFinished } from "vitest";
import { TEST_SERVER_CERT, TEST_SERVER_KEY } from "../fixtures/index.ts";

async function listening(server: net.Server): Promise<number> {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return (server.address() as net.AddressInfo).port;
}

/** Connects both ends, and takes them down at the end of the test. */
function keepTogether(...sockets: net.Socket[]): void {
  for (const socket of sockets) socket.on("error", () => undefined);
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
  });
}

/** An HTTP proxy that tunnels, unless it shall refuse. */
export async function startHttpProxy(o: { refuse?: boolean; secure?: boolean } = {}) {
  const seen: { target: string; authorization: string | undefined }[] = [];
  const proxy = o.secure ? https.createServer({ cert: TEST_SERVER_CERT, key: TEST_SERVER_KEY }) : http.createServer();
  proxy.on("connect", (request: http.IncomingMessage, client: net.Socket) => {
    seen.push({ target: request.url ?? "", authorization: request.headers["proxy-authorization"] });
    if (o.refuse) return client.end("HTTP/1.1 407 Proxy Authentication Required\r\n\r\n");
    const upstream = net.connect(Number((request.url ?? "").split(":").at(-1)), "127.0.0.1", () => {
      client.write("HTTP/1.1 200 OK\r\n\r\n");
      upstream.pipe(client).pipe(upstream);
    });
    keepTogether(client, upstream);
  });
  const port = await listening(proxy);
  onTestFinished(() => {
    proxy.close();
  });
  return { seen, port };
}

/** A SOCKS 5 proxy that writes down what it is told, and speaks one byte at a time. */
export async function startSocksProxy(o: { login?: string; method?: number; reply?: number; version?: number } = {}) {
  const seen: { methods: number[]; login?: string; type?: number; target?: string }[] = [];
  const proxy = net.createServer((client) => {
    const session: (typeof seen)[number] = { methods: [] };
    seen.push(session);
    keepTogether(client);
    void converse(client, session).catch(() => client.destroy());
  });

  async function converse(client: net.Socket, session: (typeof seen)[number]): Promise<void> {
    const take = reader(client);
    const say = (...bytes: number[]) => {
      for (const byte of bytes) client.write(Buffer.from([byte]));
    };
    const [, count = 0] = await take(2);
    session.methods = [...(await take(count))];
    say(o.version ?? 5, o.method ?? (o.login === undefined ? 0 : 2));
    if (o.login !== undefined) {
      const [, length = 0] = await take(2);
      const user = await take(length);
      const password = await take((await take(1))[0] ?? 0);
      session.login = `${user}:${password}`;
      say(1, session.login === o.login ? 0 : 1);
      if (session.login !== o.login) return void client.end();
    }
    const [, , , type = 0] = await take(4);
    session.type = type;
    const address = await take(type === 1 ? 4 : type === 4 ? 16 : ((await take(1))[0] ?? 0));
    const port = (await take(2)).readUInt16BE();
    session.target = `${type === 3 ? address : address.toString("hex")}:${port}`;
    if (o.reply) return say(5, o.reply, 0, 1, 0, 0, 0, 0, 0, 0);
    const upstream = net.connect(port, "127.0.0.1");
    keepTogether(upstream);
    await once(upstream, "connect");
    say(5, 0, 0, 3, 4, ...Buffer.from("here"), 1, 2);
    upstream.pipe(client).pipe(upstream);
  }
  const port = await listening(proxy);
  onTestFinished(() => {
    proxy.close();
  });
  return { seen, port };
}

/** Exactly so many bytes. */
function reader(socket: net.Socket): (length: number) => Promise<Buffer> {
  let bytes = Buffer.alloc(0);
  let wake: () => void = () => undefined;
  const onData = (chunk: Buffer) => {
    bytes = Buffer.concat([bytes, chunk]);
    wake();
  };
  socket.on("data", onData);
  return async (length) => {
    while (bytes.length < length) {
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    }
    const taken = bytes.subarray(0, length);
    bytes = bytes.subarray(length);
    return taken;
  };
}

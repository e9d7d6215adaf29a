/** Ports for programs that have to be told one. */
import { createServer } from "node:net";

/**
 * A port on which no program listens. It is none of those that the system gives to connections: such a one could be taken
 * again before it is used.
 */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = 20_000 + Math.floor(Math.random() * 10_000);
    const server = createServer();
    const taken = await new Promise<boolean>((resolve) => {
      server.once("error", () => resolve(true));
      server.listen(port, "127.0.0.1", () => resolve(false));
    });
    if (taken) continue;
    await new Promise((resolve) => server.close(resolve));
    return port;
  }
}

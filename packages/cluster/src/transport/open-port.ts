import { createServer, type Server, type Socket } from "node:net";

/**
 * A port that is open before there is a server behind it. Whoever connects meanwhile is neither refused nor answered, but
 * waits until a cluster takes the port over.
 */
export interface OpenPort {
  /** Listens, and belongs to the cluster once that has started. */
  readonly server: Server;
  /** Those who have come so far; nothing of what they send was read. */
  readonly waiting: Socket[];
}

/**
 * Opens a port for a cluster that is started later: `Cluster.start({ openPort })`.
 *
 * @example
 * ```ts
 * const openPort = await openPortEarly("127.0.0.1", 6443);
 * const { Cluster } = await import("@lotse/cluster");
 * await using cluster = await Cluster.start({ openPort });
 * ```
 */
export async function openPortEarly(host: string, port: number): Promise<OpenPort> {
  const waiting: Socket[] = [];
  const server = createServer({ pauseOnConnect: true }, (socket) => {
    // Somebody who leaves again is nothing that the cluster has to hear of.
    socket.on("error", () => socket.destroy());
    waiting.push(socket);
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, host, () => {
      server.off("error", reject);
      resolve();
    });
  });
  return { server, waiting };
}

/** Puts a server behind an open port: it greets those who wait, and whoever comes from now on. */
export function takeOver({ server, waiting }: OpenPort, successor: Server): void {
  // The same listening socket: nobody is refused in between.
  successor.listen(server);
  for (const socket of waiting.splice(0)) {
    if (socket.destroyed) continue;
    successor.emit("connection", socket);
    socket.resume();
  }
}

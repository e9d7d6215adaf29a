import { connect } from "node:net";
import type { PodConnection } from "./bytes.ts";

/** Connects to a port of this machine. */
export function dial(port: number): Promise<PodConnection> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host: "127.0.0.1", allowHalfOpen: true });
    socket.once("error", () => reject(new Error(`dial tcp4 127.0.0.1:${port}: connect: connection refused`)));
    socket.once("connect", () => {
      socket.removeAllListeners("error");
      // The reader is told by its iterator; without a listener the error would end the process.
      socket.on("error", () => {});
      resolve({
        incoming: socket,
        write: (chunk) =>
          new Promise((done) => {
            if (socket.destroyed || !socket.writable || socket.write(chunk)) return done();
            const go = () => {
              socket.off("drain", go);
              socket.off("close", go);
              done();
            };
            socket.on("drain", go);
            socket.on("close", go);
          }),
        end: () => void socket.end(),
        close: () => void socket.destroy(),
      });
    });
  });
}

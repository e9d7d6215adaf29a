import { connect } from "node:net";
import type { PodConnection } from "../../bytes/index.ts";
import { hasOpened, type PodProcesses } from "./process-owners.ts";

/**
 * Connects to a port that a process of this pod has opened. Any other port of the machine is closed for the pod, as it
 * is where a pod has an address of its own.
 */
export async function dialPod(pod: PodProcesses, port: number): Promise<PodConnection> {
  if (!(await hasOpened(pod, port))) throw refused(port);
  return dial(port);
}

function refused(port: number): Error {
  return new Error(`dial tcp4 127.0.0.1:${port}: connect: connection refused`);
}

/** Connects to a port of this machine. */
export function dial(port: number): Promise<PodConnection> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host: "127.0.0.1", allowHalfOpen: true });
    socket.once("error", () => reject(refused(port)));
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

// The other side of `loop-server.mjs`.
import { fork } from "node:child_process";
import { Failure } from "../../scripts/process.mjs";

/** A process with a cluster, and questions to it. */
export async function startServer() {
  const child = fork(new URL("loop-server.mjs", import.meta.url));
  const next = () =>
    new Promise((resolve, reject) => {
      const ended = (code) => reject(new Failure(`the process of the cluster ended with ${code}`, 1));
      child.once("exit", ended);
      child.once("message", (message) => {
        child.off("exit", ended);
        resolve(message);
      });
    });
  const { kubeconfig } = await next();
  const tell = (order, more = {}) => {
    child.send({ order, ...more });
    return next();
  };
  const end = () =>
    new Promise((resolve) => {
      child.once("exit", resolve);
      child.send({ order: "end" });
    });
  return { kubeconfig, tell, end };
}

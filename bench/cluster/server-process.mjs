// A program in a process of its own, and messages to it: clusters that are measured, and those who ask them.
import { fork } from "node:child_process";
import { Failure } from "../../scripts/process.mjs";

/**
 * `next` waits for what the process says next, `tell` says something and waits for the answer, `end` says the last thing
 * and waits until it has ended.
 */
export function startProcess(file, { args = [], execArgv = [] } = {}) {
  const child = fork(file, args, { execArgv });
  const next = () =>
    new Promise((resolve, reject) => {
      const ended = (code) => reject(new Failure(`${file.pathname ?? file} ended with ${code}`, 1));
      child.once("exit", ended);
      child.once("message", (message) => {
        child.off("exit", ended);
        resolve(message);
      });
    });
  const tell = (message) => {
    child.send(message);
    return next();
  };
  const end = (message) =>
    new Promise((resolve) => {
      child.once("exit", resolve);
      child.send(message);
    });
  return { next, tell, end };
}

/** A cluster whose program tells its kubeconfig when it is up, and takes orders. */
export async function startServer(file = new URL("loop-server.mjs", import.meta.url), options = {}) {
  const server = startProcess(file, options);
  const { kubeconfig } = await server.next();
  return {
    kubeconfig,
    tell: (order, more = {}) => server.tell({ order, ...more }),
    end: () => server.end({ order: "end" }),
  };
}

// Keeps the promise that no server outlives its test, whatever becomes of the test: its parent writes the process ids
// of the servers and the data folder as JSON lines; when the pipe closes before the word "done", they are ended here.
import { rmSync } from "node:fs";
import { createInterface } from "node:readline";

const pids = [];
let folder;
let done = false;
createInterface({ input: process.stdin })
  .on("line", (line) => {
    const message = JSON.parse(line);
    if (message.pid) pids.unshift(message.pid); // the last started ends first: the API server before etcd
    if (message.folder) folder = message.folder;
    if (message.done) done = true;
  })
  .on("close", () => {
    if (done) return;
    for (const pid of pids) {
      try {
        process.kill(pid, "SIGKILL");
      } catch {
        // it has ended by itself
      }
    }
    if (folder) rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  });
// A signal to the whole group must not end the guard before the servers.
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => {});

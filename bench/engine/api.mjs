// The plain HTTP that the workload and the watcher speak: no client of anybody who is measured.
import https from "node:https";

/** Marks the requests of the benchmark itself, so that all others are the contestant's. */
export const userAgent = "lotse-bench";

/** A number of kept connections to the API server. */
export class Api {
  #origin;
  #ca;
  #headers;
  #agent;

  constructor(kubeconfig, connections) {
    const { cluster } = kubeconfig.clusters[0];
    const { hostname, port } = new URL(cluster.server);
    this.#origin = { hostname, port };
    this.#ca = Buffer.from(cluster["certificate-authority-data"], "base64");
    this.#agent = new https.Agent({ keepAlive: true, maxSockets: connections, ca: this.#ca });
    const { token } = kubeconfig.users[0].user;
    this.#headers = { authorization: `Bearer ${token}`, "user-agent": userAgent };
  }

  /** Sends a request and resolves with its body as text; rejects on every status from 400 on. */
  send(method, path, body, type = "application/json") {
    return new Promise((resolve, reject) => {
      const text = body === undefined ? undefined : JSON.stringify(body);
      const headers =
        text === undefined
          ? this.#headers
          : { ...this.#headers, "content-type": type, "content-length": Buffer.byteLength(text) };
      const call = https.request({ ...this.#origin, method, path, headers, agent: this.#agent }, (answer) => {
        const chunks = [];
        answer.on("data", (chunk) => chunks.push(chunk));
        answer.on("error", reject);
        answer.on("end", () => {
          const received = Buffer.concat(chunks).toString();
          if (answer.statusCode < 400) resolve(received);
          else reject(new Error(`${method} ${path}: ${answer.statusCode} ${received.slice(0, 500)}`));
        });
      });
      call.on("error", reject);
      call.end(text);
    });
  }

  merge(path, patch) {
    return this.send("PATCH", path, patch, "application/merge-patch+json");
  }

  async get(path) {
    return JSON.parse(await this.send("GET", path));
  }

  /** Opens a stream of lines on a connection of its own. Returns the function that ends it. */
  lines(path, onLines, onEnd) {
    const options = { ...this.#origin, path, headers: this.#headers, agent: new https.Agent({ ca: this.#ca }) };
    let over = false;
    const end = (error) => {
      if (over) return;
      over = true;
      onEnd(error);
    };
    const call = https.request(options, (answer) => {
      let rest = "";
      if (answer.statusCode !== 200) end(new Error(`GET ${path}: ${answer.statusCode}`));
      answer.setEncoding("utf8").on("data", (text) => {
        const parts = (rest + text).split("\n");
        rest = parts.pop();
        if (!over && parts.length > 0) onLines(parts);
      });
      answer.on("close", () => end(Object.assign(new Error("the server ended the watch"), { ended: true })));
    });
    call.on("error", end).end();
    return () => {
      over = true;
      call.destroy();
    };
  }

  close() {
    this.#agent.destroy();
  }
}

/** Runs `count` jobs, `width` at a time. */
export async function inParallel(count, width, job) {
  let next = 0;
  const lane = async () => {
    while (next < count) await job(next++);
  };
  await Promise.all(Array.from({ length: Math.min(width, count) }, lane));
}

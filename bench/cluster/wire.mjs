// HTTP/1.1 over TLS with as little of it as possible: the client shares the machine with what is measured, and must
// never be what limits it.
import tls from "node:tls";

const HEADERS_END = Buffer.from("\r\n\r\n");
const CHUNK_LINE = Buffer.from("\r\n");

/** One connection, one request at a time. */
export class Connection {
  #socket;
  #head;
  #parts = [];
  #answer;
  #waiting;

  static async open({ port, ca, token }) {
    const connection = new Connection();
    connection.#head = `Host: 127.0.0.1:${port}\r\nAuthorization: Bearer ${token}\r\nAccept: application/json\r\nUser-Agent: lotse-bench\r\n`;
    connection.#socket = tls.connect({ host: "127.0.0.1", port, ca, ALPNProtocols: ["http/1.1"] });
    connection.#socket.setNoDelay(true);
    await new Promise((resolve, reject) => {
      connection.#socket.once("secureConnect", resolve).once("error", reject);
    });
    connection.#socket.on("error", (error) => connection.#waiting?.reject(error));
    connection.#socket.on("data", (chunk) => connection.#read(chunk));
    return connection;
  }

  /** Resolves with the number of bytes of the answer's body, or with the body itself. */
  async send(method, path, body, { type = "application/json", keep = false } = {}) {
    const text = body === undefined ? "" : JSON.stringify(body);
    const lines = text === "" ? "" : `Content-Type: ${type}\r\nContent-Length: ${Buffer.byteLength(text)}\r\n`;
    this.#answer = { keep, size: 0, bodies: [] };
    const done = new Promise((resolve, reject) => {
      this.#waiting = { resolve, reject };
    });
    this.#socket.write(`${method} ${path} HTTP/1.1\r\n${this.#head}${lines}\r\n${text}`);
    const { status, size, bodies } = await done;
    if (status >= 400)
      throw new Error(`${method} ${path}: ${status} ${Buffer.concat(bodies).toString().slice(0, 500)}`);
    return keep ? Buffer.concat(bodies) : size;
  }

  /** Opens a watch and counts the events that it brings. */
  watch(path, onEvents) {
    this.#answer = { onEvents, size: 0, bodies: [] };
    const opened = new Promise((resolve, reject) => {
      this.#waiting = { resolve, reject };
    });
    this.#socket.write(`GET ${path} HTTP/1.1\r\n${this.#head}\r\n`);
    return opened;
  }

  close() {
    this.#socket.destroy();
  }

  #read(chunk) {
    const answer = this.#answer;
    if (!answer.status) {
      this.#parts.push(chunk);
      const bytes = this.#parts.length === 1 ? chunk : Buffer.concat(this.#parts);
      const end = bytes.indexOf(HEADERS_END);
      if (end < 0) return;
      this.#parts = [];
      const head = bytes.latin1Slice(0, end);
      answer.status = Number(head.slice(9, 12));
      const length = /content-length: (\d+)/i.exec(head);
      answer.left = length ? Number(length[1]) : undefined;
      if (answer.onEvents) this.#waiting.resolve();
      chunk = bytes.subarray(end + 4);
      if (chunk.length === 0 && answer.left !== 0) return;
    }
    if (answer.onEvents) {
      // Every event ends with a line break, and so does every chunk, but that one follows a carriage return.
      let events = 0;
      for (let at = chunk.indexOf(10); at >= 0; at = chunk.indexOf(10, at + 1)) {
        if ((at > 0 ? chunk[at - 1] : answer.last) === 0x7d) events++;
      }
      answer.last = chunk.at(-1);
      if (events > 0) answer.onEvents(events);
      return;
    }
    if (answer.left !== undefined) this.#measured(answer, chunk);
    else this.#chunked(answer, chunk);
  }

  #measured(answer, chunk) {
    this.#take(answer, chunk);
    answer.left -= chunk.length;
    if (answer.left <= 0) this.#waiting.resolve(answer);
  }

  #chunked(answer, chunk) {
    let rest = answer.rest ? Buffer.concat([answer.rest, chunk]) : chunk;
    answer.rest = undefined;
    while (rest.length > 0) {
      if (answer.chunk > 0) {
        const part = rest.subarray(0, answer.chunk);
        this.#take(answer, part);
        answer.chunk -= part.length;
        rest = rest.subarray(part.length);
        if (answer.chunk === 0) answer.skip = 2;
        continue;
      }
      if (answer.skip) {
        const skipped = Math.min(answer.skip, rest.length);
        answer.skip -= skipped;
        rest = rest.subarray(skipped);
        continue;
      }
      const end = rest.indexOf(CHUNK_LINE);
      if (end < 0) {
        answer.rest = rest;
        return;
      }
      answer.chunk = Number.parseInt(rest.latin1Slice(0, end), 16);
      rest = rest.subarray(end + 2);
      if (answer.chunk === 0) {
        this.#waiting.resolve(answer);
        return;
      }
    }
  }

  #take(answer, part) {
    answer.size += part.length;
    if (answer.keep || answer.status >= 400) answer.bodies.push(Buffer.from(part));
  }
}

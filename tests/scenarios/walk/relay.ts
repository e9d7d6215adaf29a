/**
 * Stands between an operator and its cluster, and can hold back what watches show: so the answer to a write comes before
 * its echo, which over two connections is otherwise a matter of chance.
 */
import * as http from "node:http";
import type { AddressInfo } from "node:net";

/** See the module comment. */
export class Relay {
  readonly #cluster: URL;
  readonly #server = http.createServer((request, response) => this.#pass(request, response));
  readonly #held: (() => void)[] = [];
  /** Whether a PATCH closes the gate behind it. */
  holdsAfterPatch = false;
  #holds = false;

  private constructor(cluster: string) {
    this.#cluster = new URL(cluster);
  }

  static async open(cluster: string): Promise<Relay> {
    const relay = new Relay(cluster);
    await new Promise<void>((resolve) => relay.#server.listen(0, "127.0.0.1", resolve));
    return relay;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** Shows what was held back. */
  release(): void {
    this.#holds = false;
    this.holdsAfterPatch = false;
    for (const show of this.#held.splice(0)) show();
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #pass(request: http.IncomingMessage, response: http.ServerResponse): void {
    const { method, url = "/", headers } = request;
    if (method === "PATCH" && this.holdsAfterPatch) this.#holds = true;
    const { hostname, port } = this.#cluster;
    const onward = http.request({ hostname, port, method, path: url, headers, agent: false }, (answer) => {
      response.writeHead(answer.statusCode ?? 500, answer.headers);
      response.flushHeaders();
      if (!/[?&]watch=true/.test(url)) {
        answer.pipe(response);
        return;
      }
      answer.on("data", (chunk: Buffer) => {
        const show = () => void response.write(chunk);
        if (this.#holds) this.#held.push(show);
        else show();
      });
      answer.on("end", () => response.end());
    });
    // An operator that has stopped, or a cluster that has, hears nothing any more.
    onward.on("error", () => response.destroy());
    response.on("close", () => onward.destroy());
    request.pipe(onward);
  }
}

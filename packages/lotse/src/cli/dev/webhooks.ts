/**
 * Where operators under development are asked by their cluster. The embedded one shares this machine: they listen where
 * nothing but this machine gets to, each on a port of its own, and on the same one after each save.
 */
import { createServer } from "node:net";
import type { WebhookOptions } from "../../declare/index.ts";

/** The port that is taken where it is free: the same one in each session. */
const USUAL_PORT = 9_443;
const LOOPBACK = "127.0.0.1";

/** See the module comment. */
export class DevWebhooks {
  readonly #flags: WebhookOptions;
  readonly #real: boolean;
  readonly #ports = new Map<string, number>();

  /** `flags` win; `real`: the cluster is not the embedded one. */
  constructor(flags: WebhookOptions, real: boolean) {
    this.#flags = flags;
    this.#real = real;
  }

  /** Finds a port for each of these operators that has none yet; call it while none of them listens. */
  async prepare(operators: readonly string[]): Promise<(operator: string) => WebhookOptions> {
    // How a real cluster gets here is the user's business, or found out by the operator.
    if (this.#real) return () => this.#flags;
    const { host = LOOPBACK, port } = this.#flags;
    for (const [at, operator] of operators.entries()) {
      if (this.#ports.has(operator)) continue;
      const taken = new Set(this.#ports.values());
      const asked = at === 0 && port !== undefined && port !== 0 ? port : undefined;
      this.#ports.set(operator, asked ?? (await freePort(host, taken)));
    }
    return (operator) => ({ ...this.#flags, host, port: this.#ports.get(operator) ?? 0 });
  }
}

/** The usual one, or any other that is free. */
async function freePort(host: string, taken: ReadonlySet<number>): Promise<number> {
  const usual = taken.has(USUAL_PORT) ? undefined : await listens(host, USUAL_PORT);
  return usual ?? (await listens(host, 0)) ?? 0;
}

/** The port on which this machine lets us listen; undefined when it does not. */
function listens(host: string, port: number): Promise<number | undefined> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once("error", () => resolve(undefined));
    server.listen(port, host, () => {
      const address = server.address();
      server.close(() => resolve(typeof address === "object" ? address?.port : undefined));
    });
  });
}

/** A server in a process of its own: says where it is, and how it is whenever a line comes in. */
import { startServer } from "./test-server.ts";

const at = await startServer({
  handle: async () => ({ status: 200, body: {} }),
  route: (path) => (path.startsWith("/z") ? undefined : {}),
  limits: { headersMs: 1_000, bodyMs: 1_000, answerMs: 2_000 },
});

const say = (value: unknown) => process.stdout.write(`${JSON.stringify(value)}\n`);
process.on("unhandledRejection", (error) => say({ unhandled: String(error) }));
process.stdin.on("data", () => {
  globalThis.gc?.();
  const { heapUsed, external } = process.memoryUsage();
  say({ health: at.server.health(), problems: at.problems, bytes: heapUsed + external });
});
say({ port: at.port, ca: at.authority.certPem });

// The webhook server of Lotse in a process of its own, with the handler that its peer has (go/main.go).
//   node contestant.mjs BUNDLE CERTS
import { readFileSync } from "node:fs";
import path from "node:path";
import { pathToFileURL } from "node:url";

const [bundle, certs] = process.argv.slice(2);
const { WebhookServer, systemClock } = await import(pathToFileURL(bundle).href);
const file = (name) => readFileSync(path.join(certs, name), "utf8");

const server = await WebhookServer.start({
  host: "127.0.0.1",
  port: 0,
  credentials: { cert: file("tls.crt"), key: file("tls.key") },
  handle: async ({ body }) => {
    const { apiVersion, kind, request } = body;
    const isLarge = request.object.spec.replicas > 10;
    const verdict = isLarge
      ? { allowed: false, status: { code: 403, message: "no machine has more than 10 replicas" } }
      : { allowed: true, status: { code: 200 } };
    return { status: 200, body: { apiVersion, kind, response: { uid: request.uid, ...verdict } } };
  },
  onProblem: (message, fields) => process.stderr.write(`${message} ${JSON.stringify(fields)}\n`),
  clock: systemClock,
});
process.stdout.write(`${server.port}\n`);

/** A cluster whose pods are processes, in a process of its own, which tests kill: it tells where it is and lives until then. */
import { Cluster } from "./cluster.ts";

const cluster = await Cluster.start({ tls: false, kubelet: "process" });
process.stdout.write(`${JSON.stringify({ port: cluster.port, token: cluster.token })}\n`);

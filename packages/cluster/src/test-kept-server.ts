/** A cluster in a process of its own, which tests kill: it tells where it is and lives until then. */
import { Cluster } from "./cluster.ts";

const cluster = await Cluster.start({ data: process.argv[2] as string, tls: false });
process.stdout.write(`${JSON.stringify({ port: cluster.port, token: cluster.token, cut: cluster.data?.cut })}\n`);

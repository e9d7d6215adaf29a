// Part of cluster.test.ts: a test that is killed while its cluster runs.
import { RealCluster } from "./cluster.ts";

const { pids, folder } = await RealCluster.start({ controllers: [] });
process.stdout.write(JSON.stringify({ pids, folder }), () => process.kill(process.pid, "SIGKILL"));

// An embedded cluster for which an hour passes in some seconds, and that tells its memory when it is asked.
import { Cluster } from "@lotse/cluster";

const faster = Number(process.argv[2]);
const [began, origin] = [Date.now(), performance.now()];
const clock = {
  now: () => began + (performance.now() - origin) * faster,
  // The pace of its own work, and the age of its history, stay what they are.
  monotonic: () => performance.now(),
  after(ms, fn) {
    const timer = setTimeout(fn, Math.max(0, ms / faster));
    return () => clearTimeout(timer);
  },
};

const cluster = await Cluster.start({ kubelet: "simulate", clock });
cluster.pods.program({ labels: "ends=soon" }, { exit: [{ code: 0 }] });
process.on("message", async ({ order }) => {
  if (order === "memory") {
    globalThis.gc();
    const objects = cluster.snapshot().rows.length;
    const { heapUsed, rss } = process.memoryUsage();
    process.send({ objects, heapUsed, rss, requests: cluster.requests.entries.length });
  } else {
    await cluster.stop();
    process.disconnect();
  }
});
process.send({ kubeconfig: cluster.kubeconfig });

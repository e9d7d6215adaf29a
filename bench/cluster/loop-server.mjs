// An embedded cluster in a process of its own, told by messages when to measure its event loop.
import { Cluster } from "@lotse/cluster";
import { LoopMonitor } from "./loop-monitor.mjs";

const cluster = await Cluster.start({ kubelet: "simulate" });
cluster.pods.program({ labels: "ends=soon" }, { exit: [{ code: 0 }] });
let monitor;
process.on("message", async ({ order, profile }) => {
  if (order === "start") {
    monitor = new LoopMonitor();
    await monitor.start({ profile });
    process.send({ ready: true });
  } else if (order === "stop") process.send({ loop: await monitor.stop() });
  else {
    await cluster.stop();
    process.disconnect();
  }
});
process.send({ kubeconfig: cluster.kubeconfig });

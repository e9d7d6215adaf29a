// Clusters inside one process, as in somebody's tests. Run as a program of its own: prints JSON.
//   node in-process.mjs starts N      milliseconds of each of N starts, one after the other
//   node in-process.mjs many N        megabytes of a process with N clusters, beyond one without any
const { Cluster } = await import("@lotse/cluster");
const [what, number] = process.argv.slice(2);
const count = Number(number);
const megabytes = () => process.memoryUsage().rss / 2 ** 20;

if (what === "starts") {
  const times = [];
  for (let i = 0; i < count; i++) {
    const since = performance.now();
    const cluster = await Cluster.start();
    times.push(performance.now() - since);
    await cluster.stop();
  }
  process.stdout.write(JSON.stringify(times));
} else {
  const clusters = [];
  for (let i = 0; i < count; i++) clusters.push(await Cluster.start());
  process.stdout.write(JSON.stringify(megabytes()));
  await Promise.all(clusters.map((cluster) => cluster.stop()));
}

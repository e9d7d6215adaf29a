import { Client, Pod } from "lotse/client";

await using client = await Client.connect();
const pod = await client.create(Pod.gen({ name: "test-pod", image: "nginx:latest" }));
await pod.wait(({ labels }) => "os-release/id" in labels, { timeout: "1m" });
await pod.refresh();
console.log(pod.labels);

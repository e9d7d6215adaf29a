// What a stranger's script does with the operator at work: creates a Greeting and waits for its ConfigMap.
import { Client, ConfigMap } from "lotse/client";

const client = await Client.connect({ kubeconfig: process.argv[2] });
const kind = { apiVersion: "stranger.example.com/v1", kind: "Greeting" };
const deadline = Date.now() + 30_000;

/** Asks again until there is an answer. */
async function eventually(ask) {
  for (;;) {
    try {
      const answer = await ask();
      if (answer !== undefined) return answer;
    } catch (error) {
      if (Date.now() > deadline) throw error;
    }
    if (Date.now() > deadline) throw new Error(`There was no answer in time to: ${ask}`);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

// The operator installs its CRD at start, which may be now: the server's kinds are asked for anew each time.
await eventually(async () => {
  await client.discover({ refresh: true });
  return client.create({
    ...kind,
    metadata: { name: "hello", namespace: "default" },
    spec: { text: "good morning" },
  });
});
const published = await eventually(async () => {
  const greeting = await client.get("greetings.stranger.example.com", "hello", { namespace: "default" });
  return greeting.body.status?.published;
});
const configMap = await client.get(ConfigMap, "hello-greeting", { namespace: "default" });
const owner = configMap.metadata.ownerReferences?.[0];
process.stdout.write(
  JSON.stringify({ published, text: configMap.body.data?.text, owner: `${owner?.kind}/${owner?.name}` }),
);
await client.close();

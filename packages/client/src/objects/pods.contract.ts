/** What the client promises of what happens inside of pods; for clusters that run them. */
import { beforeAll, describe, expect, it } from "vitest";
import { Deployment, Namespace, Pod, Service } from "./builtin/index.ts";
import type { Client } from "./client.ts";

/** Declares the suite. The pods of `connect`'s cluster answer `whoami` with their name and log `hello from <name>`. */
export function podsContract(connect: () => Promise<Client>): void {
  describe("the client's pods", () => {
    let client: Client;
    beforeAll(async () => {
      const admin = await connect();
      const namespace = await admin.create(Namespace.gen({ generateName: "pods-" }));
      client = admin.inNamespace(namespace.name);
      const pods = ["web-1", "web-2"].map((name) => Pod.gen({ name, image: "a", labels: { app: "web" }, ports: 8080 }));
      await client.create(pods);
      await Promise.all(pods.map((pod) => pod.waitReady()));
      await client.create(Deployment.gen({ name: "web", image: "a" }));
    });

    it("run commands, also for the services and workloads before them", async () => {
      const pod = await client.get(Pod, "web-1");
      expect((await pod.exec(["whoami"])).stdout).toBe("web-1");
      const web = await client.get(Deployment, "web");
      expect((await web.exec(["whoami"])).stdout).toMatch(/^web-[12]$/);
      const service = await client.create(Service.gen({ name: "web", ports: 80 }));
      expect((await service.exec(["whoami"])).stdout).toMatch(/^web-[12]$/);
    });

    it("tell their logs, one by one and all together", async () => {
      const pod = await client.get(Pod, "web-1");
      expect(await pod.logs().toArray()).toEqual(["hello from web-1"]);
      expect(await pod.logs().text()).toContain("hello from web-1");
      const web = await client.get(Deployment, "web");
      expect((await web.logs().toArray()).sort()).toEqual([
        "[pod/web-1/web-1] hello from web-1",
        "[pod/web-2/web-2] hello from web-2",
      ]);
    });
  });
}

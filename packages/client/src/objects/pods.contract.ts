/** What the client promises of what happens inside of pods; for clusters that run them. */
import { beforeAll, describe, expect, it } from "vitest";
import { Deployment, Node, Pod, Service } from "../builtin/index.ts";
import type { Client } from "../client/index.ts";
import { inFreshNamespace } from "../test-namespace.ts";

/**
 * Declares the suite. The pods of `connect`'s cluster answer `whoami` with their name, log `hello from <name>`, and
 * answer HTTP at port 8080 with `<method> <path> <body>`; the status is what the path ends with.
 */
export function podsContract(connect: () => Promise<Client>): void {
  describe("the client's pods", () => {
    let client: Client;
    beforeAll(async () => {
      client = await inFreshNamespace(await connect(), { generateName: "pods-" });
      const pods = ["web-1", "web-2"].map((name) => Pod.gen({ name, image: "a", labels: { app: "web" }, ports: 8080 }));
      await client.create(pods);
      await Promise.all(pods.map((pod) => pod.waitReady()));
      // It wants no pods of its own: those above are what it finds, with and without controllers.
      await client.create(Deployment.gen({ name: "web", image: "a", replicas: 0 }));
    });

    it("run commands, also for the services and workloads before them", async () => {
      const pod = await client.get(Pod, "web-1");
      expect((await pod.exec(["whoami"])).stdout).toBe("web-1");
      const web = await client.get(Deployment, "web");
      expect((await web.exec(["whoami"])).stdout).toMatch(/^web-[12]$/);
      const service = await client.create(Service.gen({ name: "web", ports: 80 }));
      expect((await service.exec(["whoami"])).stdout).toMatch(/^web-[12]$/);
    });

    it("are asked by HTTP through the service before them, and every answer is a Response", async () => {
      const service = await client.create(
        Service.gen({ name: "asked", selector: { app: "web" }, ports: [{ name: "http", port: 80, targetPort: 8080 }] }),
      );
      const ask = async (...call: Parameters<typeof service.proxy.fetch>) => {
        const response = await service.proxy.fetch(...call);
        expect(response).toBeInstanceOf(Response);
        return [response.status, await response.text()];
      };
      expect(await ask("/things/200?x=1")).toEqual([200, "GET /things/200?x=1 "]);
      expect(await ask("things/201", { method: "POST", body: "moin" })).toEqual([201, "POST /things/201 moin"]);
      expect(await ask("/things/200", { method: "PUT", body: { a: 1 }, port: 80 })).toEqual([
        200,
        'PUT /things/200 {"a":1}',
      ]);
      expect(await ask("/things/204", { method: "DELETE", port: "http" })).toEqual([204, ""]);
      for (const status of [401, 404, 429, 500, 503]) {
        expect(await ask(`/things/${status}`)).toEqual([status, `GET /things/${status} `]);
      }
      await expect(service.proxy.fetch("/", { port: 81 })).rejects.toMatchObject({
        status: 503,
        message: 'no service port 81 found for service "asked"',
      });
      const nobody = await client.create(Service.gen({ name: "nobody", ports: 80 }));
      await expect(nobody.proxy.fetch("/")).rejects.toThrow('no endpoints available for service "nobody"');
      await expect(Service.ref("absent", { client }).proxy.fetch("/", { port: 80 })).rejects.toThrow(
        'services "absent" not found',
      );
    });

    it("stay away from a node that is cordoned or tainted, and come when it is no longer", async () => {
      const { spec } = await client.get(Pod, "web-1");
      const node = await client.get(Node, spec.nodeName ?? "");
      const hindrances = [
        { begin: () => node.cordon(), end: () => node.uncordon() },
        { begin: () => node.taint("dedicated", "gpu", "NoSchedule"), end: () => node.untaint("dedicated") },
      ];
      for (const [number, { begin, end }] of hindrances.entries()) {
        await begin();
        try {
          const pod = await client.create(Pod.gen({ name: `late-${number}`, image: "a" }));
          await pod.wait("condition=PodScheduled=False");
          expect(pod.spec.nodeName).toBeUndefined();
          await end();
          await pod.waitReady();
          expect(pod.spec.nodeName).toBe(node.name);
        } finally {
          await node.uncordon();
        }
      }
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

/** What the client promises when it acts as another user. */
import { describe, expect, it } from "vitest";
import { ClusterRole, ClusterRoleBinding, ConfigMap, Secret } from "../builtin/index.ts";
import type { Client } from "../client/index.ts";
import { ForbiddenError } from "../transport/index.ts";

/** Where there are roles: what an impersonated user may not do. Needs a server that enforces RBAC. */
export function accessContract(connect: () => Promise<Client>): void {
  describe("a client that acts as somebody else", () => {
    it("may do what they may, and nothing else", async () => {
      const client = await connect();
      const rules = [{ apiGroups: [""], resources: ["configmaps"], verbs: ["list"] }];
      await client.create(ClusterRole.gen({ name: "contract-lister", rules }));
      const subjects = ["User:contract-jane"] as const;
      await client.create(
        ClusterRoleBinding.gen({ name: "contract-lister", role: "ClusterRole:contract-lister", subjects }),
      );
      const jane = client.as({ user: "contract-jane", groups: ["readers"] });
      expect(await jane.whoami()).toMatchObject({
        username: "contract-jane",
        groups: expect.arrayContaining(["readers"]),
      });
      expect((await client.whoami()).username).not.toBe("contract-jane");
      await expect
        .poll(() =>
          jane
            .list(ConfigMap)
            .toArray()
            .then(
              () => true,
              () => false,
            ),
        )
        .toBe(true);
      await expect(jane.list(Secret).toArray()).rejects.toBeInstanceOf(ForbiddenError);
    });
  });
}

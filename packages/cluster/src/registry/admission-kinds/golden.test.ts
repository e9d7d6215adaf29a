import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Cluster } from "../../cluster.ts";
import { call } from "../../test-requests.ts";
import { cases } from "./admission-kinds.golden.ts";

interface Case {
  readonly name: string;
  readonly path: string;
  readonly body: object;
  readonly message: string;
}

describe("a configuration of admission that is wrong", () => {
  let cluster: Cluster;
  beforeAll(async () => {
    cluster = await Cluster.start({ tls: false });
  });
  afterAll(() => cluster.stop());

  const rows = cases.map((text) => JSON.parse(text) as Case);
  it.each(rows.map((row) => [row.name, row] as const))("is refused in the real server's words: %s", async (_, row) => {
    const answer = await call(cluster, "POST", row.path, { body: row.body });
    expect(answer.body.message).toBe(row.message);
  });
});

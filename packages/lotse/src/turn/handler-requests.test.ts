import type { KubeBody } from "@lotse/client";
import { describe, expect, it } from "vitest";
import type { RecordedRequest } from "../report/index.ts";
import { observePatch } from "./handler-requests.ts";
import type { KindWork } from "./kind-work.ts";
import { statusStorage } from "./storage/index.ts";
import type { WritePlan } from "./write.ts";

const BODY: KubeBody = { metadata: { name: "m", namespace: "a" }, spec: { size: 1 }, status: { seen: 1 } };

/** What is recorded of a handler that wanted `changes`. */
function recorded(changes: Pick<WritePlan, "changes" | "transforms">, hasStatus = true): string[] {
  const requests: RecordedRequest[] = [];
  const work = {
    reporting: { onHandlerRequest: (request: RecordedRequest) => void requests.push(request) },
    kind: { group: "example.com", version: "v1", plural: "machines", namespaced: true },
    target: { hasStatus, storage: statusStorage("shop"), handlers: [] },
  } as unknown as KindWork;
  observePatch(work, "h", BODY, changes);
  expect(requests.every(({ handler, method }) => handler === "h" && method === "PATCH")).toBe(true);
  return requests.map(({ path }) => path);
}

const OBJECT = "/apis/example.com/v1/namespaces/a/machines/m";

describe("what a handler puts into its patch", () => {
  it.each<[string, Pick<WritePlan, "changes" | "transforms">, string[]]>([
    ["nothing, as nothing", { changes: undefined }, []],
    ["what is so already, as nothing", { changes: { spec: { size: 1 } } }, []],
    ["a status, as a write of the status", { changes: { status: { seen: 2 } } }, [`${OBJECT}/status`]],
    ["a spec, as a write of the object", { changes: { spec: { size: 2 } } }, [OBJECT]],
    [
      "both, as both",
      { changes: { metadata: { labels: { x: "y" } }, status: { seen: 2 } } },
      [OBJECT, `${OBJECT}/status`],
    ],
    [
      "a transformation, by what it does",
      { changes: undefined, transforms: [(body) => void Object.assign(body, { status: { seen: 3 } })] },
      [`${OBJECT}/status`],
    ],
  ])("is recorded: %s", (_what, changes, paths) => expect(recorded(changes)).toEqual(paths));

  it("is recorded as a write of the object where the status is a part of it", () => {
    expect(recorded({ changes: { status: { seen: 2 } } }, false)).toEqual([OBJECT]);
  });
});

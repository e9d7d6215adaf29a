import type { Client, ViewOptions } from "@lotse/client";
import { expect, test } from "vitest";
import { currentActor } from "../world/index.ts";
import { Witness } from "./witness.ts";

test("requests of an operator that has stopped are kept with who made them, and none before", () => {
  const witness = new Witness();
  let over = false;
  const views: ViewOptions[] = [];
  const client = { with: (view: ViewOptions) => views.push(view) } as unknown as Client;
  witness.listen(client, () => over);
  const ask = () => views[0]?.onRequest?.({ method: "GET", path: "/api/v1/pods", watch: false, websocket: false });
  ask();
  expect(witness.late).toEqual([]);
  over = true;
  const actor = { handlers: ["publish"], object: undefined };
  currentActor.run(actor, ask);
  expect(witness.late).toEqual([{ actor, method: "GET", path: "/api/v1/pods" }]);
});

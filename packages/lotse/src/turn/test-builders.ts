/** Builders for the tests of this room. */
import type { KubeBody } from "@lotse/client";
import { type ChangeHandler, type ChangeOptions, Declarations, type Reason } from "../declare/index.ts";

/** A change handler as a user would declare it. */
export function changeHandler(
  id: string,
  reasons: readonly Reason[],
  options: ChangeOptions<KubeBody> = {},
  fn: ChangeHandler["fn"] = () => undefined,
): ChangeHandler {
  const declarations = new Declarations();
  declarations.on(reasons, "things.example.com", { ...options, id } as never, fn as never);
  return declarations.resources[0]?.handlers[0] as ChangeHandler;
}

/** A small object with a uid. */
export function thing(spec: Record<string, unknown> = {}, metadata: KubeBody["metadata"] = {}): KubeBody {
  return {
    apiVersion: "example.com/v1",
    kind: "Thing",
    metadata: { name: "one", namespace: "default", uid: "u1", resourceVersion: "1", ...metadata },
    spec,
  };
}

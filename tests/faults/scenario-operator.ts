/** The operator of the scenario, in a process of its own. The object's name says what happens to it: scenario.ts. */
import { ConfigMap } from "@lotse/client";
import { Operator, TemporaryError } from "lotse";
import { Thing } from "./kinds.ts";
import { failures, gate, noted, runOperator } from "./operator-process.ts";

const operator = new Operator({ name: "faults" });
const soon = { delay: "1s" } as const;
type Context = Parameters<Parameters<typeof operator.on.create<typeof Thing>>[2]>[0];

operator.on(["create", "update"], Thing, { id: "audit" }, (context) =>
  noted("audit", context, () => {
    context.patch.status.audited = context.spec.size;
  }),
);

operator.on.create(Thing, { id: "build" }, (context) =>
  noted("build", context, async () => {
    const { name, retry, spec, patch, signal, client, adopt } = context;
    if (name === "moved" || name === "hasty") await gate(name, signal);
    if (name === "flaky" && retry === 0) throw new TemporaryError("not yet", soon);
    if (name === "plain" || name === "doomed") {
      await client.apply(adopt(ConfigMap.gen({ name: `${name}-child`, data: { built: "yes" } })));
    }
    if (name === "stepwise") await furnish(context);
    patch.status.built = 1;
    patch.status.size = spec.size;
  }),
);

/** Three steps and a failure on the way. */
async function furnish({ step, name, uid, reason, retry, spec }: Context): Promise<void> {
  const noting = <T>(id: string, work: () => T) => noted(`build/${id}`, { name, uid, reason, retry, spec }, work);
  const disk = await step("disk", () => noting("disk", () => 7));
  await step("restore", () =>
    noting("restore", () => {
      if (disk !== 7) throw new Error(`the result of a step was lost: ${disk}`);
      if (failures("build/restore", uid) === 0) throw new TemporaryError("not yet", soon);
    }),
  );
  await step.all({ user: () => noting("user", () => "admin"), grants: () => noting("grants", () => ["all"]) });
}

operator.on.update(Thing, { id: "resize" }, (context) =>
  noted("resize", context, () => {
    context.patch.status.size = context.spec.size;
  }),
);

operator.on.delete(Thing, { id: "release", labels: { guard: "yes" } }, (context) =>
  noted("release", context, () => {
    if (context.name === "doomed" && context.retry === 0) throw new TemporaryError("not yet", soon);
  }),
);

operator.on.delete(Thing, { id: "farewell", optional: true, labels: { guard: "no" } }, (context) =>
  noted("farewell", context, () => {}),
);

await runOperator(operator);

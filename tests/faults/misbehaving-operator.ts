/** An operator whose handlers do what handlers should not. The object's label says which of them is for it. */
import { Operator } from "lotse";
import { Trouble } from "./kinds.ts";
import { noted, runOperator } from "./operator-process.ts";

const operator = new Operator({ name: "trouble" });

type Context = Parameters<Parameters<typeof operator.on.create<typeof Trouble>>[2]>[0];

function misbehave(id: string, work: (context: Context) => unknown): void {
  const options = { id, labels: { trouble: id }, retries: 2, timeout: "1m", backoff: "1s" } as const;
  operator.on.create(Trouble, options, (context) => noted(id, context, () => work(context)));
}

misbehave("throws", () => {
  throw new Error("an error that nobody expected");
});

misbehave("throws-nothing", () => {
  throw undefined;
});

misbehave("lingers", async ({ signal }) => {
  await new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
});

misbehave("hangs", () => new Promise(() => {}));

misbehave("blocks", () => {
  const endsAt = performance.now() + 1_000;
  while (performance.now() < endsAt);
});

misbehave("mutates", ({ spec }) => {
  (spec as { size: number }).size = 9;
});

misbehave("returns-bigint", () => ({ rate: 1n }));

misbehave("returns-circle", () => {
  const circle: Record<string, unknown> = {};
  circle.self = circle;
  return circle;
});

misbehave("returns-function", () => () => {});

misbehave("patches-bigint", ({ patch }) => {
  (patch.status as Record<string, unknown>).rate = 1n;
});

operator.on.create(Trouble, { id: "witness" }, (context) =>
  noted("witness", context, () => {
    context.patch.status.handled = true;
    context.patch.status.size = context.spec.size;
  }),
);

await runOperator(operator);

/** Part of deploy.test.ts: everything that the exchange-rates operator is there for, done once, on whatever cluster. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { type Client, ConfigMap, CustomResourceDefinition, type Duration, Event } from "lotse/client";
import { ExchangeRate } from "../../examples/exchange-rates/operator.ts";

/** A rate service that a test can hold back. */
export interface HeldRates {
  readonly url: string;
  /** Keeps the next question waiting: `asked` resolves when it has come, `answer` lets it go on. */
  hold(): { readonly asked: Promise<void>; answer(): void };
  close(): Promise<void>;
}

const RATES: Readonly<Record<string, number>> = { EUR: 0.92, JPY: 151.6, USD: 1 };
const UNKNOWN = "XXX";
const PATIENCE: Duration = "20s";
/** So many write to one object at a time that nobody can write to it without meeting another. */
const CROWD = 8;

/** Starts the service. */
export async function startRates(): Promise<HeldRates> {
  let held: { readonly came: () => void; readonly gate: Promise<void> } | undefined;
  const server = createServer(async (request, response) => {
    const now = held;
    held = undefined;
    now?.came();
    await now?.gate;
    const rate = RATES[request.url?.split("/").at(-1) ?? ""];
    response.writeHead(rate === undefined ? 404 : 200, { "content-type": "application/json" });
    response.end(JSON.stringify({ rate }));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    hold() {
      let [came, answer] = [() => {}, () => {}];
      const asked = new Promise<void>((resolve) => {
        came = resolve;
      });
      const gate = new Promise<void>((resolve) => {
        answer = resolve;
      });
      held = { came, gate };
      return { asked, answer };
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

type Money = InstanceType<typeof ExchangeRate>;

/** The life of one ExchangeRate, each step seen to have happened. Rejects when one does not come; stops at `signal`. */
export async function wholeJob(
  admin: Client,
  rates: HeldRates,
  { name, namespace, signal }: { name: string; namespace: string; signal: AbortSignal },
): Promise<void> {
  const wait = { timeout: PATIENCE, signal };
  const definition = new CustomResourceDefinition(ExchangeRate.crd(), admin);
  await definition.wait(["create", "condition=Established"], wait);
  const created = await admin.create(
    new ExchangeRate({ metadata: { name, namespace }, spec: { currency: "EUR" } }, admin),
  );
  const money = await created.wait(({ status }) => status?.rate === RATES.EUR, wait);
  const configMap = await admin.get(ConfigMap, money.status?.configMap ?? "", { namespace });

  // It follows its currency, although many others write to the object at the same time.
  const question = rates.hold();
  await money.patch({ spec: { currency: "JPY" } });
  await Promise.race([question.asked, aborted(signal)]);
  const done = new AbortController();
  const crowd = jostle(money, AbortSignal.any([done.signal, signal]));
  question.answer();
  try {
    await money.wait(({ status }) => status?.rate === RATES.JPY, wait);
    await configMap.wait(({ data }) => data.rate === String(RATES.JPY), wait);
  } finally {
    done.abort();
    await crowd;
  }

  // A currency that nobody knows is told in the status and by an Event, which counts how often it happened.
  for (const times of [1, 2]) {
    await money.patch({ spec: { currency: UNKNOWN } });
    await money.wait(({ status }) => status?.message !== undefined, wait);
    await warned(admin, money, times, signal);
    await money.patch({ spec: { currency: "USD" } });
    await money.wait(({ status }) => status?.rate === RATES.USD && status?.message === undefined, wait);
  }

  // When it goes, its ConfigMap goes: that is the garbage collector's work, which takes its time with new kinds.
  const owners = configMap.metadata.ownerReferences?.map(({ uid }) => uid);
  if (!owners?.includes(money.uid ?? "")) throw new Error(`${configMap.name} does not belong to ${name}`);
  await money.delete({ wait: PATIENCE });
}

/** Labels an object all the time. */
async function jostle(money: Money, signal: AbortSignal): Promise<void> {
  let count = 0;
  const push = async () => {
    while (!signal.aborted) await money.patch({ metadata: { labels: { pushed: String(count++) } } });
  };
  await Promise.all(Array.from({ length: CROWD }, push));
}

async function warned(admin: Client, money: Money, times: number, signal: AbortSignal): Promise<void> {
  const { name, namespace = "" } = money;
  const watch = admin.watch(Event, { namespace, fieldSelector: { "involvedObject.name": name }, signal });
  for await (const { object } of watch) {
    const { type, count = 0, message = "" } = object.body as { type?: string; count?: number; message?: string };
    if (type === "Warning" && message.includes(UNKNOWN) && count >= times) return;
  }
}

function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    signal.addEventListener("abort", () => reject(signal.reason), { once: true });
  });
}

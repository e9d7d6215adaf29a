/**
 * The example told in a terminal: a cluster in this process, the operator on it, and the life of one ExchangeRate. Each
 * step waits for the real thing and fails when it does not come.
 */
import { chmodSync, mkdirSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { Cluster } from "@lotse/cluster";
import { type LogRecord, type LogSink, minLevel, prettySink } from "lotse";
import { type Client, ConfigMap, KubeError, WaitTimeoutError } from "lotse/client";
import operator, { ExchangeRate } from "./operator.ts";

const NAMESPACE = "default";
const PATIENCE = "20s";

async function tell(): Promise<number> {
  const say = narrator(process.stdout);
  const log = new StoryLog(prettySink(process.stderr, { colours: process.stderr.isTTY === true }));
  let cluster: Cluster | undefined;
  try {
    say.title("Lotse: the story of one ExchangeRate");
    const since = performance.now();
    cluster = await Cluster.start();
    say.step("cluster up", `${cluster.url}, in ${Math.round(performance.now() - since)} ms`);
    const client = await cluster.connect();
    const running = operator.start({ client, log: log.sink });
    try {
      await running.ready;
      say.step("operator started", `${operator.name}, watches ExchangeRate (rates.example.com/v1)`);
      await lifeOfOne(client, say);
      if (process.stdin.isTTY && process.stdout.isTTY) await stay(cluster, client, say, log);
    } finally {
      await running.stop();
      await client.close();
    }
    return 0;
  } catch (error) {
    log.explain();
    const { message, hint } = error as { message?: string; hint?: string };
    process.stderr.write(`Error: ${message ?? String(error)}\n${hint ? `Do:    ${hint}\n` : ""}`);
    return 1;
  } finally {
    await cluster?.stop();
  }
}

async function lifeOfOne(client: Client, say: Narrator): Promise<void> {
  const metadata = { name: "travel-money", namespace: NAMESPACE };
  const money = await client.apply(new ExchangeRate({ metadata, spec: { currency: "EUR" } }, client));
  say.step("applied", "ExchangeRate travel-money, currency EUR");
  await inTime(
    "no ConfigMap appeared",
    money.wait(({ status }) => status?.configMap !== undefined, { timeout: PATIENCE }),
  );
  const configMap = await client.get(ConfigMap, money.status?.configMap ?? "", { namespace: NAMESPACE });
  say.step("appeared", `ConfigMap ${configMap.name}, ${contentOf(configMap)}`);

  await money.patch({ spec: { currency: "JPY" } });
  say.step("changed", "ExchangeRate travel-money, currency JPY");
  await inTime(
    "the ConfigMap did not follow",
    configMap.wait(({ data }) => data.currency === "JPY", { timeout: PATIENCE }),
  );
  await inTime(
    "the status did not follow",
    money.wait(({ status }) => String(status?.rate) === configMap.data.rate, { timeout: PATIENCE }),
  );
  say.step("followed", `ConfigMap ${configMap.name}, ${contentOf(configMap)}`);

  await inTime("the ExchangeRate did not go", money.delete({ wait: PATIENCE }));
  say.step("deleted", "ExchangeRate travel-money");
  await inTime("the ConfigMap did not go", configMap.wait("delete", { timeout: PATIENCE }));
  say.step("gone", `ConfigMap ${configMap.name}, with its owner`);
}

/** What was waited for, or a sentence about what did not happen. */
async function inTime<T>(otherwise: string, work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (cause) {
    if (!(cause instanceof WaitTimeoutError)) throw cause;
    const hint = "the lines above are the last ones of the operator's log";
    throw new KubeError(`${otherwise} within ${PATIENCE}`, { cause, hint });
  }
}

const contentOf = ({ data }: ConfigMap) => `${data.currency} = ${data.rate}`;

/** For somebody at the keyboard: everything stays until Ctrl-C. */
async function stay(cluster: Cluster, client: Client, say: Narrator, log: StoryLog): Promise<void> {
  const kubeconfig = path.resolve(".lotse", "kubeconfig");
  mkdirSync(path.dirname(kubeconfig), { recursive: true });
  await cluster.writeKubeconfig(kubeconfig);
  chmodSync(kubeconfig, 0o600);
  const console = await startConsole(client);
  say.title("It goes on until Ctrl-C");
  if (console) {
    log.also(console.sink);
    say.step("console", console.url);
  }
  say.step("use it", `export KUBECONFIG=${kubeconfig}`);
  const manifest = fileURLToPath(new URL("manifests/rate.yaml", import.meta.url));
  say.step("try it", `kubectl apply -f ${path.relative(process.cwd(), manifest)}`);
  say.step("", "kubectl get xr");
  log.show();
  await new Promise<void>((resolve) => {
    const alive = setInterval(() => {}, 2 ** 30);
    for (const signal of ["SIGINT", "SIGTERM"] as const) {
      process.once(signal, () => {
        clearInterval(alive);
        resolve();
      });
    }
  });
  await console?.stop();
}

interface Console {
  readonly url: string;
  readonly sink: LogSink;
  stop(): Promise<void>;
}

/** The console is a package of its own, and the story does without it. */
async function startConsole(client: Client): Promise<Console | undefined> {
  const name: string = "@lotse/console";
  try {
    const found = (await import(name)) as {
      startConsole?(o: { client: Client; kinds: unknown[] }): Promise<Console>;
    };
    return await found.startConsole?.({ client, kinds: [ExchangeRate, ConfigMap] });
  } catch (error) {
    if ((error as { code?: string }).code === "ERR_MODULE_NOT_FOUND") return undefined;
    throw error;
  }
}

interface Narrator {
  title(text: string): void;
  step(what: string, rest: string): void;
}

function narrator(output: NodeJS.WriteStream): Narrator {
  const colours = output.isTTY === true && !process.env.NO_COLOR;
  const paint = (code: string, text: string) => (colours ? `\x1b[${code}m${text}\x1b[0m` : text);
  return {
    title: (text) => output.write(`\n${paint("1", text)}\n`),
    step: (what, rest) => output.write(`  ${paint("36", what.padEnd(18))}${rest}\n`),
  };
}

/** The operator's log: kept back while the story is told, for the case that it goes wrong, and shown afterwards. */
class StoryLog {
  readonly #output: LogSink;
  readonly #kept: LogRecord[] = [];
  #other: LogSink | undefined;
  #shown = false;

  constructor(output: LogSink) {
    this.#output = minLevel("info", output);
  }

  readonly sink: LogSink = (record) => {
    if (this.#shown) this.#output(record);
    else this.#kept.push(record);
    this.#other?.(record);
  };

  /** Tells `other` too: all that was said so far, and what comes. */
  also(other: LogSink): void {
    for (const record of this.#kept) other(record);
    this.#other = other;
  }

  show(): void {
    this.#shown = true;
  }

  /** The last lines, for whoever wants to know what went wrong. */
  explain(): void {
    for (const record of this.#kept.slice(-10)) this.#output(record);
  }
}

process.exitCode = await tell();

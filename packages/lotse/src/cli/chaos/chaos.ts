/**
 * `lotse chaos`: a proxy that does harm between any API server and any operator. The command gets a KUBECONFIG for the
 * proxy, is started again when it is killed, and is judged by what it does.
 */
import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { harmless } from "@lotse/client/meta";
import { type ConnectOptions, confirmContext, connect } from "../connect/index.ts";
import { type ChaosProxy, importTesting, type TestingPackage } from "../local-cluster/index.ts";
import { type Io, Problem, stopOnSignal } from "../terminal/index.ts";
import { OperatorCommand } from "./command.ts";
import { type ChaosPlan, type HarmFlags, planOf } from "./plan.ts";
import { reportText } from "./text.ts";
import { Witness } from "./witness.ts";

/** The flags of `lotse chaos`. */
export interface ChaosOptions extends ConnectOptions, HarmFlags {
  readonly yes?: boolean | undefined;
  readonly output?: "json" | undefined;
}

/** See the module comment. 1 when something broke. */
export async function chaos(
  argv: readonly string[],
  options: ChaosOptions,
  io: Io,
  load: () => Promise<TestingPackage> = () => importTesting(),
): Promise<number> {
  if (argv.length === 0) {
    throw new Problem(
      {
        what: "there is no command to run",
        todo: "name it behind --: lotse chaos --fail 10%:500 -- npx lotse run operator.ts",
      },
      { exitCode: 2 },
    );
  }
  const plan = await planOf(options, io);
  const testing = await load();
  const stop = stopOnSignal(io);
  try {
    // Makes sure that the cluster answers: its absence is no harm of ours.
    const { client, context, server } = await connect(options, io, (text) =>
      io.stderr.write(`Warning: ${harmless(text)}\n`),
    );
    const { namespace } = client.config;
    await client.close();
    await confirmContext(context, options.yes, io, stop.signal);
    return await harm(argv, { plan, testing, options, io, signal: stop.signal, server, namespace });
  } finally {
    stop[Symbol.dispose]();
  }
}

interface Harm {
  readonly plan: ChaosPlan;
  readonly testing: TestingPackage;
  readonly options: ChaosOptions;
  readonly io: Io;
  readonly signal: AbortSignal;
  readonly server: string;
  readonly namespace: string;
}

async function harm(argv: readonly string[], o: Harm): Promise<number> {
  const { plan, testing, options, io, signal, server } = o;
  const witness = new Witness(io.uptime);
  const token = randomBytes(24).toString("base64url");
  const { kubeconfig, context } = options;
  const proxy = await testing.ChaosProxy.open(
    {
      env: io.env,
      ...(kubeconfig !== undefined && { kubeconfig: path.resolve(io.cwd, kubeconfig) }),
      ...(context !== undefined && { context }),
    },
    { token, tls: true, keep: false, onEvent: witness.hear },
  );
  const folder = mkdtempSync(path.join(os.tmpdir(), "lotse-chaos-"));
  try {
    const file = path.join(folder, "kubeconfig");
    writeFileSync(file, JSON.stringify(kubeconfigFor(proxy, token, o.namespace), null, 2), { mode: 0o600 });
    const command = new OperatorCommand(argv, { env: environment(io.env, file), io, witness, now: io.uptime });
    proxy.kill = command.kill;
    const decide = testing.decideBy(plan.rules, { seed: plan.seed });
    io.stderr.write(
      `Chaos in front of ${server} for ${plan.harmMs / 1_000} s, then calm for ${plan.calmMs / 1_000} s. Ctrl-C ends it.\n`,
    );
    const ended = command.run(signal);
    // Heard below, unless the waiting fails first.
    ended.catch(() => undefined);
    await pause(plan.afterMs, signal, ended);
    proxy.rule = decide;
    const begunMs = io.uptime();
    await pause(plan.harmMs, signal, ended);
    proxy.rule = () => undefined;
    witness.harmEnds();
    const harmMs = io.uptime() - begunMs;
    await pause(plan.calmMs, signal, ended);
    // What it closes when it stops, it has not given up.
    const before = witness.report({ isRunning: command.isRunning });
    await command.stop();
    await ended;
    const after = witness.report({ isRunning: false });
    const result = { ...after, recoveredMs: before.recoveredMs, findings: merged(before, after) };
    if (options.output === "json") {
      const { recoveredMs = null, ...rest } = result;
      const { harmMs: _, calmMs: __, afterMs: ___, ...told } = plan;
      io.stdout.write(
        `${JSON.stringify({ command: argv, server, ...told, harmMs: Math.round(harmMs), ...rest, recoveredMs }, null, 2)}\n`,
      );
    } else io.stdout.write(reportText(result, plan, { server, harmMs }));
    return result.findings.length === 0 ? 0 : 1;
  } finally {
    await proxy.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Deaths are known at the end; what was watched and written is judged before it was told to stop. */
function merged(before: ReturnType<Witness["report"]>, after: ReturnType<Witness["report"]>) {
  return [
    ...after.findings.filter(({ type }) => type === "died"),
    ...before.findings.filter(({ type }) => type !== "died"),
  ];
}

/** Ends early when everything ends. */
async function pause(ms: number, signal: AbortSignal, ended: Promise<void>): Promise<void> {
  // From the very first request on.
  if (ms === 0) return;
  const over = new AbortController();
  const both = AbortSignal.any([signal, over.signal]);
  await Promise.race([delay(ms, undefined, { signal: both }).catch(() => undefined), ended]);
  over.abort();
}

/** With TLS: client-go sends no token without. */
function kubeconfigFor({ url: server, ca = "" }: ChaosProxy, token: string, namespace: string): object {
  const authority = Buffer.from(ca).toString("base64");
  return {
    apiVersion: "v1",
    kind: "Config",
    clusters: [{ name: "chaos", cluster: { server, "certificate-authority-data": authority } }],
    users: [{ name: "chaos", user: { token } }],
    contexts: [{ name: "chaos", context: { cluster: "chaos", user: "chaos", namespace } }],
    "current-context": "chaos",
  };
}

/** No proxy of the environment stands between the command and ours. */
function environment(env: Io["env"], kubeconfig: string): Record<string, string | undefined> {
  const bypass = [env.NO_PROXY ?? env.no_proxy, "127.0.0.1"].filter(Boolean).join(",");
  return { ...env, KUBECONFIG: kubeconfig, NO_PROXY: bypass, no_proxy: bypass };
}

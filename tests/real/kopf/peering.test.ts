/** A live Kopf and a live Lotse give way to each other by the same object, whoever comes first and however it leaves. */
import { beforeAll, expect, it } from "vitest";
import { installPeering, peeringCrd } from "../../../packages/lotse/src/coordination/peering/test-peering-kinds.ts";
import type { Running } from "../../cli/project.ts";
import { describeOn } from "../../fixture.ts";
import { installKopf } from "./install.ts";
import { Peers, says, WORDS } from "./peers.ts";

/** A cold package index and a slow machine. */
const installLimitMs = 600_000;
/** Processes start and end, and time runs out: all of it on a machine that may be busy. */
const timeout = 300_000;

describeOn(["embedded", "real"], "Kopf and Lotse", (cluster) => {
  let python: string;
  let tests = 0;

  beforeAll(async () => {
    python = await installKopf((line) => process.stdout.write(`${line}\n`));
    const client = await cluster().connect();
    await installPeering(client, peeringCrd(false));
  }, installLimitMs);

  const meet = () => Peers.meet({ cluster: cluster(), python, namespace: `peers-${++tests}` });

  async function leave(running: Running): Promise<void> {
    running.child.kill("SIGTERM");
    expect(await running.ended).toBe(0);
  }

  /** `low` works, and gives way to processes of `high` that come and go. */
  async function giveWay(low: "kopf" | "lotse", high: "kopf" | "lotse"): Promise<void> {
    await using peers = await meet();
    const deployed = peers[low](0);
    await peers.create("a", low);

    const leaving = peers[high](10);
    await says(deployed, WORDS[low].pauses);
    await peers.settle(high);
    await peers.create("b", high);
    await peers.change("a", high, 2);
    await leave(leaving);
    await says(deployed, WORDS[low].works, 2);
    await peers.change("b", low, 2);

    const killed = peers[high](10);
    await says(deployed, WORDS[low].pauses, 2);
    await peers.settle(high);
    await peers.create("c", high);
    killed.child.kill("SIGKILL");
    expect(await killed.ended).toBe("SIGKILL");
    const dead = Math.min(...(await peers.deadlines()));
    await says(deployed, WORDS[low].works, 3);
    // Not before its time was over: it might have been alive.
    expect(Date.now()).toBeGreaterThanOrEqual(dead);
    await peers.change("c", low, 2);
    await leave(deployed);
    expect(peers.handled.toSorted(), peers.story()).toEqual(
      [
        `${low}: create a`,
        `${high}: create b`,
        `${high}: update a`,
        `${low}: update b`,
        `${high}: create c`,
        `${low}: update c`,
      ].toSorted(),
    );
    expect(await peers.deadlines()).toEqual([]);
  }

  it.concurrent(
    "Lotse pauses for a Kopf of a higher priority, and goes on when that leaves or is killed",
    { timeout },
    () => giveWay("lotse", "kopf"),
  );

  it.concurrent(
    "Kopf pauses for a Lotse of a higher priority, and goes on when that leaves or is killed",
    { timeout },
    () => giveWay("kopf", "lotse"),
  );

  it.concurrent("with the same priority both pause, and say so, until one of them leaves", { timeout }, async () => {
    await using peers = await meet();
    const lotse = peers.lotse(5);
    await says(lotse, WORDS.lotse.works);
    const kopf = peers.kopf(5);
    await says(kopf, WORDS.kopf.equal);
    await says(lotse, WORDS.lotse.equal);
    await leave(kopf);
    await says(lotse, WORDS.lotse.works, 2);
    await peers.create("a", "lotse");
    await leave(lotse);
  });

  it.concurrent("`kopf freeze` pauses Lotse and `lotse freeze` pauses Kopf, until it is taken back", {
    timeout,
  }, async () => {
    await using peers = await meet();
    const lotse = peers.lotse(0);
    await peers.create("a", "lotse");
    await peers.command("kopf", "freeze", "--lifetime", "600");
    await says(lotse, WORDS.lotse.pauses);
    await peers.client.patch("configmaps", "a", { data: { n: "2" } });
    await peers.command("kopf", "resume");
    await peers.becomes("lotse: update a");
    await leave(lotse);

    const kopf = peers.kopf(0);
    await peers.create("b", "kopf");
    await peers.command("lotse", "freeze", "--lifetime", "10m", "--yes");
    await says(kopf, WORDS.kopf.pauses);
    await peers.client.patch("configmaps", "b", { data: { n: "2" } });
    await peers.command("lotse", "resume", "--yes");
    await says(kopf, WORDS.kopf.works, 2);
    await peers.becomes("kopf: update b");
    await leave(kopf);
    expect(peers.handled).toEqual(["lotse: create a", "lotse: update a", "kopf: create b", "kopf: update b"]);
  });
});

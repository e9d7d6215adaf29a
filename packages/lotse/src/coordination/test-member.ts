import { Client } from "@lotse/client";
import { leader, planCoordination } from "../declare/index.ts";
import { Logger, Metrics } from "../report/index.ts";
import { LeaderCoordinator, type LeaderPlan } from "./leader.ts";
import type { Member, MemberSettings } from "./test-stage.ts";
import { Host, type World } from "./test-world.ts";

/** One process of an operator, which may be killed and started again: the whole coordinator. */
export class CoordinatorMember implements Member {
  readonly name: string;
  /** Called at the moment when it begins to lead. */
  onLead: () => void = () => undefined;
  /** What must not have happened. */
  readonly violations: string[] = [];
  readonly #world: World;
  readonly #settings: MemberSettings;
  readonly #random: () => number;
  #runs = 0;
  #life: Life | undefined;

  constructor(world: World, name: string, settings: MemberSettings, random: () => number) {
    this.name = name;
    this.#world = world;
    this.#settings = settings;
    this.#random = random;
  }

  get host(): Host | undefined {
    return this.#life?.host;
  }

  /** Begins, unless it runs. */
  async start(): Promise<void> {
    if (this.#life) return;
    const host = new Host(this.#world, this.#settings.wallMs);
    const life: Life = { host, stopping: new AbortController(), letting: 0 };
    this.#life = life;
    const client = await Client.connect({ url: "https://test", transport: host, clock: host, random: this.#random });
    const coordinator = new LeaderCoordinator(
      planCoordination(leader(this.#settings.lease)) as LeaderPlan,
      {
        operator: "rates",
        client,
        clock: host,
        random: this.#random,
        logger: new Logger(
          () => undefined,
          () => host.now(),
        ),
        metrics: new Metrics(),
        environment: { POD_NAMESPACE: "default", POD_NAME: this.name },
        namespaces: undefined,
      },
      `${this.name}-${++this.#runs}`,
    );
    life.coordinator = coordinator;
    if (this.#life !== life) return;
    life.running = coordinator.run(
      {
        leads: (leading) => {
          if (leading && life.letting > 0) this.violations.push(`${this.name} leads while its work before goes on`);
        },
        ownershipChanged: () => this.#changed(life),
      },
      life.stopping.signal,
    );
  }

  async #changed(life: Life): Promise<void> {
    if (life.coordinator?.owns()) this.onLead();
    else {
      life.letting++;
      await new Promise<void>((resolve) => life.host.after(this.#settings.letGoMs, resolve));
      life.letting--;
    }
  }

  /** Whether a write would leave now: asked of a process that is stopped, as if it went on at this moment. */
  get passes(): boolean {
    try {
      this.#life?.coordinator?.pass();
      return this.#life?.coordinator !== undefined;
    } catch {
      return false;
    }
  }

  kill(): void {
    this.#life?.host.kill();
    this.#life = undefined;
  }

  /** A clean stop, if the process runs. Never rejects; never ends where the process is killed meanwhile. */
  async leave(): Promise<void> {
    const life = this.#life;
    if (!life?.host.runs) return;
    try {
      life.stopping.abort();
      await life.running;
      await life.coordinator?.release();
      if (this.#life === life) this.kill();
    } catch (error) {
      this.violations.push(`${this.name} could not leave: ${error}`);
    }
  }
}

interface Life {
  readonly host: Host;
  readonly stopping: AbortController;
  coordinator?: LeaderCoordinator;
  running?: Promise<void>;
  /** Losses whose work goes on. */
  letting: number;
}

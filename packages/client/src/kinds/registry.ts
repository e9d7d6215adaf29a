import type { Clock } from "../meta/index.ts";
import type { KindDescription } from "./description.ts";
import { type Discovery, type DiscoveryFailure, discoverKinds } from "./discovery.ts";
import { findKinds, findManifestKind, nearestNames, UnknownKindError } from "./names.ts";

/** A name that was not found is asked for again at most so often: a typing error must not cost a discovery each time. */
const ASK_AGAIN_MS = 10_000;

/**
 * What one client knows of the server's kinds. Filled on first use; a miss asks the server again, because the
 * CustomResourceDefinition may have been created a moment ago.
 */
export class KindRegistry {
  readonly #ask: Parameters<typeof discoverKinds>[0];
  readonly #clock: Clock;
  readonly #missedAt = new Map<string, number>();
  #known: Promise<Discovery> | undefined;

  constructor(ask: Parameters<typeof discoverKinds>[0], clock: Clock) {
    this.#ask = ask;
    this.#clock = clock;
  }

  /**
   * The server's kinds; concurrent callers share one discovery. One that failed is forgotten, and so is one without the
   * list of groups: it is good for those who asked, and too poor to be kept.
   */
  discover(o: { refresh?: boolean | undefined } = {}): Promise<Discovery> {
    if (this.#known === undefined || o.refresh) {
      const asked = discoverKinds(this.#ask);
      this.#known = asked;
      const forget = () => {
        if (this.#known === asked) this.#known = undefined;
      };
      asked.then((discovery) => rootFailure(discovery) && forget(), forget);
    }
    return this.#known;
  }

  /** The kind of that name, in any spelling. */
  resolve(name: string): Promise<KindDescription> {
    return this.#find(name, ({ kinds }) => findKinds(kinds, name)[0]);
  }

  /** The kind of a manifest. */
  resolveManifest(manifest: { apiVersion: string; kind: string }): Promise<KindDescription> {
    return this.#find(`${manifest.apiVersion}/${manifest.kind}`, ({ kinds }) => findManifestKind(kinds, manifest));
  }

  async #find(name: string, look: (discovery: Discovery) => KindDescription | undefined): Promise<KindDescription> {
    let asked = this.#known === undefined;
    let discovery = await this.discover();
    let found = look(discovery);
    if (!found && !asked && this.#mayAskAgain(name)) {
      asked = true;
      discovery = await this.discover({ refresh: true });
      found = look(discovery);
    }
    if (found) {
      this.#missedAt.delete(name);
      return found;
    }
    // The server did not tell whether there is such a kind: what kept the server from telling is the answer.
    const unknown = rootFailure(discovery);
    if (unknown) throw unknown.error;
    if (asked) this.#missedAt.set(name, this.#clock.monotonic());
    const broken = discovery.failures.map(({ apiVersion }) => apiVersion).join(", ");
    throw new UnknownKindError(name, nearestNames(discovery.kinds, name), {
      ...(broken === "" ? {} : { hint: `these parts of the API did not answer and may hold it: ${broken}` }),
    });
  }

  #mayAskAgain(name: string): boolean {
    const missedAt = this.#missedAt.get(name);
    return missedAt === undefined || this.#clock.monotonic() - missedAt >= ASK_AGAIN_MS;
  }
}

/** The core group, or the list of all others, could not be had. */
function rootFailure({ failures, apiVersions }: Discovery): DiscoveryFailure | undefined {
  return failures.find(({ apiVersion }) => !apiVersions.includes(apiVersion));
}

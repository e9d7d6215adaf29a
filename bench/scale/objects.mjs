// The objects: settled before anybody starts, so that nobody has anything to write. What settled means to Lotse is in the
// status that Lotse itself leaves, so it is asked once, for one object, and all others get a copy with their own uid in it:
// a record that names another object's is none.
import { inParallel } from "../engine/api.mjs";
import { widget, widgetsIn } from "../engine/bed.mjs";
import { Contestant } from "../engine/contestant.mjs";
import { Watcher } from "../engine/watcher.mjs";

/** The last of all by name: a list comes in this order, so who has seen it knows all others. */
export const canary = "zz-canary";
export const nameOf = (index) => `widget-${String(index).padStart(7, "0")}`;

const size = 1;

/** What an object looks like that Lotse has nothing to do about: parts of its metadata, and its status. */
export async function settledByLotse(bed) {
  const namespace = "seed";
  await bed.createNamespace(namespace);
  const path = widgetsIn(namespace);
  await bed.api.send("POST", path, widget("seed", size));
  const watcher = new Watcher(bed.api, path);
  const lotse = new Contestant("lotse", { namespace, kubeconfig: bed.kubeconfigFile, child: false });
  try {
    await watcher.until(() => watcher.isSettled("seed", size), "the first status", 120_000, lotse.alive);
    await watcher.quiet();
  } finally {
    watcher.close();
    await lotse.stop();
  }
  const { metadata, status } = await bed.api.get(`${path}/seed`);
  const { uid, annotations, finalizers } = metadata;
  return { uid, metadata: { annotations, finalizers }, status };
}

/** All objects of one namespace, which only grow in number. */
export class Objects {
  #api;
  #seed;
  #count = 0;
  path;

  /** @param {Awaited<ReturnType<typeof settledByLotse>>} seed */
  constructor(api, namespace, seed) {
    this.#api = api;
    this.#seed = seed;
    this.path = widgetsIn(namespace);
  }

  /** Makes it so many, and says now and then how far it is. */
  async grow(count, connections, note) {
    const missing = count - this.#count;
    let done = 0;
    const timer = setInterval(() => note(`  … ${done} of ${missing} objects created`), 10_000);
    try {
      if (this.#count === 0) await this.#create(canary);
      await inParallel(missing, connections, async (index) => {
        await this.#create(nameOf(this.#count + index));
        done++;
      });
    } finally {
      clearInterval(timer);
    }
    this.#count = count;
  }

  async #create(name) {
    const body = widget(name, size);
    body.metadata = { ...this.#seed.metadata, name };
    const { metadata } = JSON.parse(await this.#api.send("POST", this.path, body));
    await this.#api.merge(`${this.path}/${name}/status`, { status: this.#statusOf(metadata) });
  }

  /** Settles objects anew as at their creation: a contestant leaves records that the next one does not know. */
  async settle(names, connections) {
    await inParallel(names.length, connections, async (index) => {
      const path = `${this.path}/${names[index]}`;
      const object = JSON.parse(
        await this.#api.send("PATCH", path, { spec: { size } }, "application/merge-patch+json"),
      );
      await this.#api.send("PUT", `${path}/status`, { ...object, status: this.#statusOf(object.metadata) });
    });
  }

  #statusOf({ uid }) {
    return JSON.parse(JSON.stringify(this.#seed.status).replaceAll(this.#seed.uid, uid));
  }

  /** Wants another size of an object. */
  change(name, to) {
    return this.#api.merge(`${this.path}/${name}`, { spec: { size: to } });
  }
}

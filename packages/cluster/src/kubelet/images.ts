/** The images on a node. A simulated one gets each when it is first asked for; one that runs processes needs none. */
export class NodeImages {
  readonly #pulls: boolean;
  readonly #present = new Set<string>();

  constructor(pulls: boolean) {
    this.#pulls = pulls;
  }

  /** Whether an image has to be fetched before a container of it can be created. */
  mustPull({ image, imagePullPolicy }: Readonly<Record<string, unknown>>): boolean {
    if (!this.#pulls || imagePullPolicy === "Never") return false;
    return imagePullPolicy === "Always" || !this.#present.has(String(image));
  }

  add({ image }: Readonly<Record<string, unknown>>): void {
    this.#present.add(String(image));
  }
}

import { type CelEngine, loadCelEngine } from "./schema/index.ts";

/** The expression engine of one server: large, so it is loaded when the first definition with rules is written. */
export class CelSlot {
  #engine: CelEngine | undefined;
  #loading: Promise<CelEngine> | undefined;

  /** Undefined until {@link load} has resolved once. */
  get engine(): CelEngine | undefined {
    return this.#engine;
  }

  async load(): Promise<void> {
    this.#loading ??= loadCelEngine();
    this.#engine = await this.#loading;
  }
}

/** One source of certificates for several operators of a process: it ends with the last of them. */
import type { CertificateSource } from "../admission/index.ts";

/** See the module comment. */
export class SharedCertificates {
  readonly #make: () => CertificateSource;
  #source: CertificateSource | undefined;
  #users = 0;

  constructor(make: () => CertificateSource) {
    this.#make = make;
  }

  /** The source, for one more operator, which stops it when it needs it no more. */
  use(): CertificateSource {
    this.#source ??= this.#make();
    this.#users++;
    const source = this.#source;
    let stopped: Promise<void> | undefined;
    return {
      ready: source.ready,
      current: () => source.current(),
      onChange: (listener) => source.onChange(listener),
      health: () => source.health(),
      stop: () => {
        stopped ??= this.#leave(source);
        return stopped;
      },
    };
  }

  async #leave(source: CertificateSource): Promise<void> {
    if (--this.#users > 0) return;
    this.#source = undefined;
    await source.stop();
  }
}

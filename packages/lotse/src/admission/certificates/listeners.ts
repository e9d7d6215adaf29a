import type { CertificateInUse } from "./source.ts";

/** Those who want to hear of each change. */
export class Listeners {
  readonly #all = new Set<(now: CertificateInUse) => void>();

  add(listener: (now: CertificateInUse) => void): () => void {
    this.#all.add(listener);
    return () => this.#all.delete(listener);
  }

  /** One that fails keeps no other from hearing. */
  tell(now: CertificateInUse, failed: (error: unknown) => void): void {
    for (const listener of [...this.#all]) {
      try {
        listener(now);
      } catch (error) {
        failed(error);
      }
    }
  }
}

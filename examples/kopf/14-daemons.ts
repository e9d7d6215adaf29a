/**
 * Daemons run beside their object for as long as it is there, or until they end by themselves. One that fails begins
 * again; `spec` always shows the newest state; `sleep` ends when the daemon has to.
 */
import { Operator, TemporaryError } from "lotse";
import { KopfExample } from "./kopf-example.ts";

const operator = new Operator({ name: "kopf-daemons" });

/** Fails three times, then accompanies its object for half a minute. */
operator.daemon(KopfExample, async function accompany({ spec, retry, patch, sleep, logger }) {
  if (retry < 3) {
    patch.status.message = `failed ${retry + 1} times`;
    throw new TemporaryError("a failure as an example", { delay: "1s" });
  }
  for (let seconds = 0; seconds <= 30; seconds += 5) {
    logger.info("ping from the one that ends", { field: spec.field });
    await sleep("5s");
  }
  patch.status.message = "the company is over";
});

/** Goes on for ever, for objects that have the annotation. */
operator.daemon(
  KopfExample,
  { annotations: { someannotation: "somevalue" }, grace: "1.5s" },
  async function attend({ spec, sleep, logger }) {
    for (;;) {
      logger.info("ping from the one that stays", { field: spec.field });
      await sleep("5s");
    }
  },
);

export default operator;

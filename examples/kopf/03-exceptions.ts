/**
 * The four ways to fail: for good, for now with a delay, with any other error a limited number of times, and with any
 * other error that counts as final. Each handler is tried by itself; none keeps the others from running.
 */
import { Operator, PermanentError, TemporaryError } from "lotse";
import { KopfExample } from "./kopf-example.ts";

class MyError extends Error {}

const operator = new Operator({ name: "kopf-exceptions" });

operator.on.create(KopfExample, function instantFailureOnPurpose() {
  throw new PermanentError("there is no point in trying again");
});

operator.on.create(KopfExample, function eventualSuccess({ retry }) {
  if (retry < 3) throw new TemporaryError("not yet", { delay: "1s" });
});

operator.on.create(KopfExample, { retries: 3, backoff: "1s" }, function eventualFailure() {
  throw new MyError("this may get better");
});

operator.on.create(KopfExample, { errors: "permanent" }, function instantFailureByAccident() {
  throw new MyError("this may get better, but nobody waits for it");
});

export default operator;

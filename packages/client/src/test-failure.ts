/** What a promise was rejected with; undefined when it was not, which no expectation of a failure accepts. */
export const failure = (promise: Promise<unknown>) =>
  promise.then(
    () => undefined,
    (reason) => reason,
  );

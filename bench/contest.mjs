// One run of one contestant, whatever the contest is about.

/**
 * In a namespace of its own, step by step; resolves with the figures of the run. What goes wrong says whose run it was,
 * and what the contestant had written.
 *
 * @template {{ figures: object, output: string | undefined, close(): Promise<void> }} Run
 * @param {import("./engine/bed.mjs").Bed} bed
 * @param {{ name: string, namespace: string }} options
 * @param {() => Run} begin
 * @param {readonly ((run: Run) => Promise<void>)[]} steps
 */
export async function contest(bed, { name, namespace }, begin, steps) {
  await bed.createNamespace(namespace);
  const run = begin();
  try {
    for (const step of steps) await step(run);
    return run.figures;
  } catch (error) {
    const told = !run.output || error.message.includes(run.output) ? "" : `\n${run.output}`;
    error.message = `${name}: ${error.message}${told}`;
    throw error;
  } finally {
    await run.close();
  }
}

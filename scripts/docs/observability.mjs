// docs/observability.md lists every metric and every Event of the framework, and nothing else.

const METRIC = /"((?:leader_election|controller_runtime|workqueue|rest_client|lotse)_[a-z_]+)"/g;
const REASON = /"(?:Normal|Warning)",\s*"([A-Z]\w+)"/g;
const ROW = /^\| `([^`]+)` \| (\w+) \| (.+?) \|/gm;

/** The rows of the tables that begin with a name, a type or word, and a third cell. */
function rowsOf(text) {
  return [...text.matchAll(ROW)].map(([, name, type, third]) => ({ name, type, third }));
}

/** The metrics of the page, by name: their type and their labels. */
export function metricsIn(text) {
  const rows = rowsOf(text).filter(({ name }) => /^[a-z]+_[a-z_]+$/.test(name));
  const labelsOf = (cell) => [...cell.matchAll(/`(\w+)`/g)].map(([, label]) => label);
  return new Map(rows.map(({ name, type, third }) => [name, { type, labels: labelsOf(third) }]));
}

/** The reasons of the Events of the page. */
export function reasonsIn(text) {
  return rowsOf(text)
    .filter(({ name, type }) => /^[A-Z]\w+$/.test(name) && /^(Normal|Warning|both)$/.test(type))
    .map(({ name }) => name);
}

/** The metrics that some sources make. */
export function metricsMade(sources) {
  return [...new Set(sources.flatMap((source) => [...source.matchAll(METRIC)].map(([, name]) => name)))].sort();
}

/** The reasons of the Events that some sources post by themselves. */
export function reasonsPosted(sources) {
  return [...new Set(sources.flatMap((source) => [...source.matchAll(REASON)].map(([, reason]) => reason)))].sort();
}

/**
 * What the text that Prometheus reads says of each family: its type, and the labels of its first series.
 *
 * @param {string} exposition
 * @returns {Map<string, { type: string, labels: string[] }>}
 */
export function familiesOf(exposition) {
  const families = new Map();
  for (const [, name, type] of exposition.matchAll(/^# TYPE (\S+) (\S+)$/gm)) {
    const series = new RegExp(`^${name}(?:_count)?(?:\\{(.*)\\})? \\S+$`, "m").exec(exposition);
    const labels = [...(series?.[1] ?? "").matchAll(/(\w+)="/g)].map(([, label]) => label);
    families.set(name, { type, labels });
  }
  return families;
}

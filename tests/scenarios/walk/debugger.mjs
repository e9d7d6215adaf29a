// The eyes of walk.test.ts inside the operator's process: a thread that debugs the main one. It stops at each function
// that it was told to watch, notes that it was called, and lets it go on. At the function that takes an object out of
// the queue it begins to count which functions run, and at the handler it reads what was counted, and who called whom.
import { Session } from "node:inspector";
import { parentPort } from "node:worker_threads";

const session = new Session();
session.connectToMainThread();

const ask = (method, params) =>
  new Promise((resolve, reject) => {
    session.post(method, params, (error, result) =>
      error ? reject(new Error(`${method}: ${error.message}`)) : resolve(result),
    );
  });

/** Scripts by address, and back. */
const scripts = new Map();
const addresses = new Map();
session.on("Debugger.scriptParsed", ({ params: { scriptId, url } }) => {
  if (!url.startsWith("file:")) return;
  scripts.set(url, scriptId);
  addresses.set(scriptId, url);
});

/** What each breakpoint stands for. */
const watched = new Map();
const hits = [];
let between;
let stack = [];
let roles = { dequeue: undefined, handler: undefined };
let failure;

session.on("Debugger.paused", ({ params }) => {
  onPaused(params)
    .catch((error) => {
      failure ??= String(error);
    })
    .finally(() => session.post("Debugger.resume"));
});

async function onPaused({ hitBreakpoints = [], callFrames, asyncStackTrace }) {
  for (const id of hitBreakpoints) {
    const hop = watched.get(id);
    if (hop === undefined) continue;
    hits.push(hop);
    if (hop === roles.dequeue && between === undefined) await ask("Profiler.takePreciseCoverage");
    if (hop !== roles.handler || between !== undefined) continue;
    const { result } = await ask("Profiler.takePreciseCoverage");
    between = result.filter(({ functions }) => functions.some((one) => one.ranges[0].count > 0)).map(({ url }) => url);
    stack = callFrames.map(({ location }) => addresses.get(location.scriptId) ?? "");
    for (let trace = asyncStackTrace; trace; trace = trace.parent)
      stack.push(...trace.callFrames.map(({ url }) => url));
  }
}

/** Where the functions of a script begin and end, in characters of the code that runs. */
async function functionsOf(url, coverage) {
  const scriptId = scripts.get(url);
  if (scriptId === undefined) return [];
  const { scriptSource: text } = await ask("Debugger.getScriptSource", { scriptId });
  const found = coverage.find((one) => one.url === url)?.functions ?? [];
  return found.map(({ functionName: name, ranges: [{ startOffset: from, endOffset: to }] }) => ({
    name,
    classes: classesAround(text, from),
    scriptId,
    from: placeOf(text, from),
    to: placeOf(text, to),
  }));
}

/** A class of our own ends with a brace at the beginning of a line. */
function classesAround(text, offset) {
  return [...text.matchAll(/^(?:export )?class (\w+)/gm)]
    .filter(({ index }) => index <= offset && offset < text.indexOf("\n}", index))
    .map(([, name]) => name);
}

function placeOf(text, offset) {
  const before = text.slice(0, offset);
  return { lineNumber: before.split("\n").length - 1, columnNumber: offset - (before.lastIndexOf("\n") + 1) };
}

/** Stops at the first statement of a function, given as `name` or `Class.name`. */
async function watch({ url, name }, coverage) {
  const [last, className] = name.split(".").reverse();
  const all = await functionsOf(url, coverage);
  const found = all.filter((one) => one.name === last && (className === undefined || one.classes.includes(className)));
  if (found.length !== 1) throw new Error(`${found.length} functions are called ${name} in ${url}`);
  const [{ scriptId, from, to }] = found;
  const { locations } = await ask("Debugger.getPossibleBreakpoints", {
    start: { scriptId, ...from },
    end: { scriptId, ...to },
  });
  const { breakpointId } = await ask("Debugger.setBreakpoint", { location: locations[0] });
  watched.set(breakpointId, `${name} ${url}`);
}

const commands = {
  async begin() {
    await ask("Debugger.enable");
    await ask("Debugger.setAsyncCallStackDepth", { maxDepth: 64 });
    await ask("Profiler.enable");
    await ask("Profiler.startPreciseCoverage", { callCount: true, detailed: false });
  },
  async arm({ hops, dequeue, handler }) {
    const { result } = await ask("Profiler.takePreciseCoverage");
    roles = { dequeue, handler };
    const distinct = new Map(hops.map((hop) => [`${hop.name} ${hop.url}`, hop]));
    for (const hop of distinct.values()) await watch(hop, result);
  },
  async look() {
    return { hits, between: between ?? [], stack, failure };
  },
};

parentPort.on("message", async ({ command, ...rest }) => {
  try {
    parentPort.postMessage({ done: command, result: await commands[command](rest) });
  } catch (error) {
    parentPort.postMessage({ done: command, error: String(error) });
  }
});

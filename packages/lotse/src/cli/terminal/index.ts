/** How a command talks to the person at the terminal: its process, its colours, its failures, its log. */
export { type AnnouncedLine, announce } from "./announcement.ts";
export { wantsColours } from "./colours.ts";
export { locationOfThrow, placeOfSyntaxError } from "./error-location.ts";
export { type Io, type Output, processIo, type StopSignal, type UncaughtOrigin } from "./io.ts";
export { type LogOptions, logFormatOf, logSinkOf } from "./log-output.ts";
export { exitCodeOf, formatProblem, Problem, splitMessage, type Told, tell } from "./problem.ts";
export { reportFailure } from "./report-failure.ts";
export { type Stop, stopOnSignal } from "./signals.ts";
export { similarNames } from "./similar.ts";
export { type BlamedHandler, locationOfUncaught, sameness, sentenceOf, uncaughtProblem } from "./uncaught.ts";

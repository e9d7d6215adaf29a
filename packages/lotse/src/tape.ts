/**
 * `lotse/tape`: what an operator saw, written down and read again, for `replay()` of `@lotse/testing`. `lotse run --record`
 * does it for you.
 *
 * @module
 */
export {
  answerOf,
  lineStream,
  parseTape,
  type RecorderOptions,
  recordTape,
  streamOf,
  type Tape,
  type TapeAnswerBody,
  type TapeAsk,
  type TapeEntry,
  type TapeFailure,
  type TapeFull,
  type TapeHead,
  type TapeInput,
  type TapeMoment,
  type TapeRecorder,
  type TapeStart,
  type TapeSubject,
  type TapeTick,
  tapeRandom,
} from "./tape/index.ts";

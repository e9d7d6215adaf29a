/** What did the operator see? Written down while it works, to be shown to it again. */

export {
  parseTape,
  type Tape,
  type TapeAnswerBody,
  type TapeAsk,
  type TapeEntry,
  type TapeFailure,
  type TapeFull,
  type TapeHead,
  type TapeInput,
  type TapeMoment,
  type TapeStart,
  type TapeSubject,
  type TapeTick,
} from "./format.ts";
export { DEFAULT_LIMIT_BYTES, type RecorderOptions, recordTape, type TapeRecorder, tapeRandom } from "./recorder.ts";
export { answerOf, lineStream, streamOf } from "./transport.ts";

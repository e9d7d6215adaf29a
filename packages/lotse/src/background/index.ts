export { afterTimerRun, startTimer, type TimerOutcome, type TimerState, timerDueAt } from "./timers.ts";

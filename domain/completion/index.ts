/** How a run ended: what was claimed, what the harness saw of it, and what follows for the task. */
export { causeOf } from './cause';
export { claimDigest, redactClaim, type TerminalClaim } from './claim';
export { compileCompletion, taskStatusAfter } from './compile';
export { exhaustedClaim } from './exhausted';
export { phaseSpansOf } from './phase-spans';
export { type JudgedPhases, type JudgedRun, type Judgement, judgementOf } from './retained-work';
export { mayViolate } from './side-effects';
export { lostClaim, preserved, stoppedClaim } from './unclaimed';
export { awaitedSteps } from './verification';

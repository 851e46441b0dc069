/** How a run ended: what was claimed, what the harness saw of it, and what follows for the task. */
export { claimDigest, redactClaim, type TerminalClaim } from './claim';
export { judgementOf, type JudgedPhases, type JudgedRun, type Judgement } from './held';
export { phaseSpansOf } from './phase-spans';
export { awaitedSteps } from './verification';
export { compileCompletion, taskStatusAfter } from './compile';
export { lostClaim, preserved, stoppedClaim } from './unclaimed';

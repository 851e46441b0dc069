/** The launch contract of a run: what it is made of, how it is compiled, and how two of them compare. */
export { commitPolicyOf, type ResolvedCommitPolicy } from './commit-policy';
export { compileContract, enforcementProblem, type LaunchContract } from './compile';
export { driftOf } from './drift';
export type { ContractInput, LaunchSnapshot, RunLimits, Selection } from './input';
export { launchTraces, type RefusedByGate, refusedTraces } from './launch-trace';
export { branchOf, gitTargetOf, type Objective, objectiveOf } from './objective';
export { type RecordedTransport, renderRecorded, renderTransport } from './transport';

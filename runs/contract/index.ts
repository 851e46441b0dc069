/** The launch contract of a run: what it is made of, how it is compiled, and how two of them compare. */
export { commitPolicyOf, type ResolvedCommitPolicy } from './commit-policy';
export { compileContract, enforcementProblem, type LaunchContract } from './compile';
export { driftOf } from './drift';
export { launchTraces, refusedTraces, type RefusedByGate } from './launch-trace';
export type { ContractInput, LaunchSnapshot, RunLimits, Selection } from './input';
export { gitTargetOf, objectiveOf, type Objective } from './objective';
export { renderRecorded, renderTransport, type RecordedTransport } from './transport';

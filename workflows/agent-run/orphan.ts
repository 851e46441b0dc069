import { upsertSearchAttributes } from '@temporalio/workflow';
import type { LaunchOutcome } from '../../contracts/runs/launch/launch';
import { searchAttributes } from '../../platform/temporal/search-attributes';
import type { ReattachRefusal } from '../../providers/agents/provider';
import type { OrphanedRun } from './messages';
import type { OperatorView } from './operator-view';

/** The run, as operators see it. */
interface ShownRun {
  readonly view: OperatorView;
  remote: boolean | undefined;
  started: LaunchOutcome | undefined;
  answer(launch: LaunchOutcome): void;
}

/** Shows an orphaned attempt to operators, and opens it to commands as before. */
export function showOrphan(run: ShownRun, { agent, provider, phase, launch, terminated }: OrphanedRun): void {
  run.remote = provider === 'remote-callback';
  if (launch) {
    run.answer(launch);
  }
  if (launch?.status === 'running') {
    run.started = launch;
  }
  run.view.setFact('agent', agent);
  run.view.setFact('provider', provider);
  upsertSearchAttributes([
    { key: searchAttributes.agent, value: agent },
    { key: searchAttributes.provider, value: provider },
    { key: searchAttributes.phase, value: phase },
  ]);
  run.view.log(terminated ? 'Its workflow was terminated.' : 'Its workflow was lost.');
}

/** @param refusal why its agent could not be reattached, when that was tried */
export function lossReason({ terminated }: OrphanedRun, refusal?: ReattachRefusal): string {
  if (terminated) {
    return 'The workflow of the run was terminated.';
  }
  return `The workflow of the run was lost${agentLost(refusal)}.`;
}

/** The loss of the agent, as part of a sentence. */
export const agentLost = (refusal: ReattachRefusal | undefined): string =>
  refusal === undefined ? '' : `, and the agent with it: ${refusal}`;

/** Whether an agent may still be alive that no worker of this server can end. */
export const isUnreachable = ({ dispatched, provider }: OrphanedRun): boolean =>
  dispatched && provider === 'remote-callback';

import { upsertSearchAttributes } from '@temporalio/workflow';
import type { LaunchOutcome } from '../../contracts/launch';
import { searchAttributes } from '../../platform/temporal/search-attributes';
import type { ReattachRefusal } from '../../providers/agents/provider';
import type { FoundRun } from './messages';
import type { RunStory } from './story';

/** The run as it is shown to operators. */
interface ShownRun {
  readonly story: RunStory;
  remote: boolean | undefined;
  started: LaunchOutcome | undefined;
  answer(launch: LaunchOutcome): void;
}

/** Shows an attempt that was found without its workflow, and lets it be spoken to as before. */
export function showFound(run: ShownRun, { agent, provider, phase, launch, terminated }: FoundRun): void {
  run.remote = provider === 'remote-callback';
  if (launch) run.answer(launch);
  if (launch?.status === 'running') run.started = launch;
  run.story.know('agent', agent);
  run.story.know('provider', provider);
  upsertSearchAttributes([
    { key: searchAttributes.agent, value: agent },
    { key: searchAttributes.provider, value: provider },
    { key: searchAttributes.phase, value: phase },
  ]);
  run.story.tell(terminated ? 'Its workflow was terminated.' : 'Its workflow was lost.');
}

/** @param refusal why nobody could go on with its agent, when that was looked into */
export function whyLost({ terminated }: FoundRun, refusal?: ReattachRefusal): string {
  if (terminated) return 'The workflow of the run was terminated.';
  return `The workflow of the run was lost${agentLost(refusal)}.`;
}

/** What was lost besides, as part of a sentence. */
export const agentLost = (refusal: ReattachRefusal | undefined): string =>
  refusal === undefined ? '' : `, and the agent with it: ${refusal}`;

/** Whether an agent may still be alive that nobody here can end. */
export const outOfReach = ({ dispatched, provider }: FoundRun): boolean => dispatched && provider === 'remote-callback';

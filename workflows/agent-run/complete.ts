import { ParentClosePolicy, patched, sleep, startChild, uuid4 } from '@temporalio/workflow';
import type { Retry } from '../../activities/recovery/activities';
import type { Refusal } from '../../contracts/refusal';
import { searchAttributes } from '../../platform/temporal/search-attributes';
import { workflowTaskTimeout } from '../../platform/temporal/task-timeout';
import { recoveryId, type RecoveryInput } from '../recovery/messages';
import { ownWorkspace, sibling } from '../sibling';
import { type Ending, endOf } from './ending';
import { agentRunId, type AgentRunInput, type RunEnd, type RunResult } from './messages';
import { completion, finish } from './proxies';
import type { RunMessages } from './run-messages';

/** Records the end, then starts the retry if one is due. */
export async function complete(input: AgentRunInput, run: RunMessages, ending: Ending): Promise<RunEnd> {
  const end = await finish(run, {
    attemptId: input.attemptId,
    ending,
    nextAttemptId: `attempt_${uuid4().replaceAll('-', '').slice(0, 12)}`,
    maxRetries: input.maxRetries,
    retryBackoffMs: input.timings.retryBackoffMs,
  });
  run.end = { attemptId: input.attemptId, status: end.status, endedAt: end.endedAt };
  run.view.setState(end.status, endOf(ending, end.status));
  if (end.retry) {
    run.view.log(`It is tried again as ${end.retry.attemptId}.`);
    await followUp(input, end.retry);
  }
  return run.finish(run.end);
}

/** Leaves what follows to a workflow of its own, which can be cancelled while it waits. */
async function followUp({ found: _found, proof: _proof, ...input }: AgentRunInput, retry: Retry): Promise<void> {
  const next: AgentRunInput = {
    ...input,
    attemptId: retry.attemptId,
    ...(retry.agent === undefined ? {} : { request: { ...input.request, agent: retry.agent } }),
    retry: {
      parentAttemptId: input.attemptId,
      rootAttemptId: input.retry?.rootAttemptId ?? input.attemptId,
      retryNumber: retry.retryNumber,
    },
  };
  const place = { parentClosePolicy: ParentClosePolicy.ABANDON };
  const attributes = [
    { key: searchAttributes.taskId, value: input.taskId },
    { key: searchAttributes.workspaceId, value: ownWorkspace() },
    { key: searchAttributes.rootObjectiveId, value: input.taskId },
  ];
  if (patched('recovery-workflow')) {
    await startChild<(input: RecoveryInput) => Promise<void>>('recovery', {
      ...place,
      workflowTaskTimeout,
      workflowId: sibling(recoveryId(input.attemptId)),
      args: [{ attemptId: input.attemptId, next, backoffMs: retry.backoffMs }],
      staticSummary: `recovery of ${input.attemptId}`,
      typedSearchAttributes: [...attributes, { key: searchAttributes.attemptId, value: input.attemptId }],
    });
    return;
  }
  await sleep(retry.backoffMs, { summary: 'retry backoff' });
  await startChild<(input: AgentRunInput) => Promise<RunEnd>>('agentRun', {
    ...place,
    workflowTaskTimeout,
    workflowId: sibling(agentRunId(retry.attemptId)),
    args: [next],
    staticSummary: `retry ${retry.retryNumber} of ${input.attemptId}`,
    typedSearchAttributes: [
      ...attributes,
      { key: searchAttributes.attemptId, value: retry.attemptId },
      { key: searchAttributes.runState, value: 'admitting' },
    ],
  });
}

/** Ends a launch that was refused after its admission, and releases its reservation. */
export async function abandon(run: RunMessages, launch: Refusal): Promise<RunResult> {
  const { endedAt } = await completion.abandon({ attemptId: run.attemptId, launch });
  return refuse(run, launch, endedAt);
}

export async function refuse(run: RunMessages, launch: Refusal, endedAt: string): Promise<RunResult> {
  run.answer(launch);
  run.view.setAttributes();
  run.view.log(`Refused with ${launch.code}: ${launch.message}`);
  return { ...(await run.finish({ attemptId: run.attemptId, status: 'refused', endedAt })), refusal: launch };
}

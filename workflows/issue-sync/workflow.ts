import {
  ActivityFailure,
  allHandlersFinished,
  ApplicationFailure,
  condition,
  continueAsNew,
  patched,
  proxyActivities,
  setCurrentDetails,
  setHandler,
  sleep,
  workflowInfo,
} from '@temporalio/workflow';
import type { IssueSyncActivities, RoundFailure, RoundStep } from '../../activities/issue-sync/activities';
import { requireProof, verified } from '../unproven';
import {
  changedSignal,
  type Disabled,
  type IssueSyncInput,
  type RoundEnd,
  type SyncNowInput,
  syncNowUpdate,
} from './messages';
import { refreshPullRequests } from './refresh-pull-requests';

const records = proxyActivities<IssueSyncActivities>({
  startToCloseTimeout: '30 seconds',
  retry: { initialInterval: '200 milliseconds', maximumInterval: '15 seconds' },
  summary: 'record the issue synchronisation',
});

/** A few tries: the next round begins where this one ended. */
const stepsOn = ({ heartbeatTimeoutMs, retryMs }: IssueSyncInput) =>
  proxyActivities<IssueSyncActivities>({
    startToCloseTimeout: '2 hours',
    heartbeatTimeout: heartbeatTimeoutMs,
    retry: { initialInterval: retryMs, maximumInterval: '1 minute', maximumAttempts: 8 },
    summary: 'synchronise issues',
  });

/** When announced changes are read that had to wait: refreshes of one pull request are no closer than this. */
const announcedMs = 5_000;

/** Changes come in bursts: what the first one begins should find the others. */
const settleMs = 1_000;

/**
 * Synchronises the issues of a repository with its tasks: a round at each interval, after a change that the forge announces,
 * and on request, until it is disabled. A forge that asks to wait is waited for here, whatever else happens.
 */
export async function issueSync(input: IssueSyncInput): Promise<void> {
  const { repo } = input;
  const state = { begun: 0, ended: 0, isChanged: false, isRequested: false, isWaiting: false };
  const isWoken = (): boolean => state.isChanged || state.isRequested;
  let end: RoundEnd | Disabled = disabled;
  setHandler(changedSignal, () => {
    state.isChanged = true;
  });
  setHandler(
    syncNowUpdate,
    async (asked: SyncNowInput) => {
      await verified(records.verifyIssueSync({ repo, asked }));
      state.isRequested = true;
      // A round that has begun may have read already what the caller means.
      const awaited = state.begun + 1;
      await condition(() => state.ended >= awaited || state.isWaiting);
      return end;
    },
    { validator: (asked: SyncNowInput) => requireProof(asked) },
  );

  for (;;) {
    Object.assign(state, { begun: state.begun + 1, isChanged: false, isRequested: false });
    const plan = await records.beginIssueSync({ repo });
    const round = `${workflowInfo().runId}/${state.begun}`;
    const finished = plan ? await runRound(input, { repo, round }) : disabled;
    end = finished.status === 'disabled' ? disabled : finished.end;
    state.ended = state.begun;
    setCurrentDetails(detailsOf(end));
    if (!plan || finished.status === 'disabled') {
      await condition(() => allHandlersFinished() || isWoken());
      // It was enabled again while it ended.
      if (isWoken()) {
        continue;
      }
      return;
    }
    if (finished.waitMs !== undefined) {
      state.isWaiting = true;
      await sleep(finished.waitMs);
      state.isWaiting = false;
    } else if (await condition(isWoken, finished.againMs ?? plan.pollIntervalMs)) {
      await condition(() => state.isRequested, settleMs);
    }
    if (workflowInfo().continueAsNewSuggested && allHandlersFinished()) {
      await continueAsNew<typeof issueSync>(input);
    }
  }
}

const disabled: Disabled = { status: 'disabled' };
/** `waitMs`: how long the forge asks to wait. `againMs`: when the next round is, because something is left. */
type Finished = { status: 'ended'; end: RoundEnd; waitMs?: number; againMs?: number } | Disabled;

async function runRound(input: IssueSyncInput, step: RoundStep): Promise<Finished> {
  const steps = stepsOn(input);
  for (const name of ['pullIssues', 'pushTasks'] as const) {
    const result = await steps[name](step).catch(failureOf);
    if (result.status === 'disabled') {
      return disabled;
    }
    if (result.status === 'failed') {
      return failed(step, result);
    }
  }
  const { due, isMore } = patched('pull-requests') ? await records.requestRefreshes(step) : { due: [], isMore: false };
  const failure = await refreshPullRequests(due, input.heartbeatTimeoutMs);
  if (failure) {
    return failed(step, failure);
  }
  const end: RoundEnd = { status: 'done', report: await records.endIssueSync(step) };
  return { status: 'ended', end, ...(isMore ? { againMs: announcedMs } : {}) };
}

async function failed(step: RoundStep, result: RoundFailure): Promise<Finished> {
  const failure = await records.failIssueSync({ ...step, ...result });
  const wait = result.retryAfterMs === undefined ? {} : { waitMs: result.retryAfterMs };
  return { status: 'ended', end: { status: 'failed', failure }, ...wait };
}

/** Why a step failed for good: the forge did not respond for long, or a worker did not. */
function failureOf(error: unknown): RoundFailure {
  if (!(error instanceof ActivityFailure)) {
    throw error;
  }
  const { cause } = error;
  return cause instanceof ApplicationFailure && cause.type?.startsWith('FORGE_') === true
    ? { status: 'failed', code: cause.type, message: cause.message }
    : { status: 'failed', code: 'SYNC_INTERRUPTED', message: cause?.message ?? error.message };
}

const detailsOf = (end: RoundEnd | Disabled): string => {
  switch (end.status) {
    case 'done':
      return `${end.report.imported} imported, ${end.report.exported} exported, ${end.report.updated} updated, ${end.report.errors} errors.`;
    case 'failed':
      return `**${end.failure.code}**: ${end.failure.message}`;
    case 'disabled':
      return 'Disabled.';
  }
};

import { CancellationScope, condition, log, patched, sleep, upsertSearchAttributes } from '@temporalio/workflow';
import type { Reattached } from '../../activities/agent-run/dispatch/reattach';
import { searchAttributes } from '../../platform/temporal/search-attributes';
import { awaitTurn } from './admission';
import { showApprovals } from './approvals';
import { acceptCommands } from './commands';
import { abandon, complete, refuse } from './complete';
import type { Ending } from './ending';
import type { AgentRunInput, OrphanedRun, RunResult } from './messages';
import { isUnreachable, lossReason, showOrphan } from './orphan';
import { followPhases } from './phases';
import { prepareLaunch } from './prepare-launch';
import { admit, announce, completion, observeOn } from './proxies';
import { reattachAgent, reclaim, runAgent } from './run-agent';
import { RunMessages } from './run-messages';

/**
 * One attempt from admission to completion. Whatever happens in between, the end is recorded once and the reservation is
 * released; a lost worker is followed by a retry as an attempt of its own.
 */
export async function agentRun(input: AgentRunInput): Promise<RunResult> {
  const run = new RunMessages(input);
  followPhases(run, acceptCommands(run, input.timings));
  showApprovals(run);
  // An operator's "cancel" in the Temporal UI is a stop: it ends the agent and is recorded like any other.
  CancellationScope.current().cancelRequested.catch(() => run.stopByOperator());
  return CancellationScope.nonCancellable(() =>
    input.found ? resumeOrphan(input, input.found, run) : runAttempt(input, run),
  );
}

/** Resumes an orphaned attempt; one that has ended meanwhile is not changed. */
async function resumeOrphan(input: AgentRunInput, orphan: OrphanedRun, run: RunMessages): Promise<RunResult> {
  const over = await completion.endOf({ attemptId: input.attemptId });
  if (over) {
    return run.finish(over);
  }
  if (orphan.next === 'launch') {
    return runAttempt(input, run);
  }
  showOrphan(run, orphan);
  if (orphan.next === 'callback') {
    run.view.setState('running', 'The agent works elsewhere and may still report.');
    return complete(input, run, await awaitCallback(run));
  }
  const isOnHost = orphan.dispatched && !run.remote;
  const reattached = isOnHost && orphan.reattach ? await reattachOrphan(input, orphan, run) : undefined;
  if (reattached?.claimed) {
    return complete(input, run, run.cutShort() ?? { by: 'agent' });
  }
  const reclaimed = isOnHost
    ? await reclaim(input, run, { hostId: orphan.hostId, force: orphan.terminated })
    : { claimed: false };
  if (reclaimed?.claimed) {
    return complete(input, run, { by: 'agent' });
  }
  const hostReclaimed = reclaimed !== undefined && !isUnreachable(orphan);
  return complete(input, run, { by: 'lost', reason: lossReason(orphan, reattached?.reason), hostReclaimed });
}

function reattachOrphan(
  input: AgentRunInput,
  { hostId }: OrphanedRun,
  run: RunMessages,
): Promise<Reattached | undefined> {
  run.view.setState('running', 'The agent may have outlived its worker.');
  return reattachAgent(input, hostId, run);
}

async function runAttempt(input: AgentRunInput, run: RunMessages): Promise<RunResult> {
  const { attemptId } = input;
  const admitted = await admit(run, input);
  if (admitted.launch?.status === 'refused') {
    return refuse(run, admitted.launch, admitted.decidedAt);
  }
  run.remote = admitted.provider === 'remote-callback';
  run.view.setFact('agent', admitted.agent);
  run.view.setFact('provider', admitted.provider);
  const attributes = [
    { key: searchAttributes.agent, value: admitted.agent },
    { key: searchAttributes.provider, value: admitted.provider },
    { key: searchAttributes.phase, value: admitted.phase },
  ];
  if (run.storesHere) {
    run.view.setWithState(attributes);
  } else {
    upsertSearchAttributes(attributes);
  }

  if (admitted.launch?.status === 'queued') {
    run.answer(admitted.launch);
    run.view.setState('queued', 'It waits in the queue for capacity.');
    const over = await awaitTurn(run);
    if (over) {
      return abandon(run, over);
    }
  }
  if (run.stop !== undefined) {
    return complete(input, run, { by: 'stop', ...run.stop });
  }

  const launch = await prepareLaunch(input, admitted.hostId);
  if (launch.status === 'refused') {
    return abandon(run, launch);
  }
  run.answer(launch);
  run.started = launch;

  run.view.setState(
    'running',
    run.remote
      ? 'The contract is stored; the agent works elsewhere and will report.'
      : `The contract is stored; the agent runs on ${admitted.hostId ?? 'the board'}.`,
  );
  const timer = startTimer(run, admitted.timeoutMs);
  const [ending] = await Promise.all([
    run.remote ? awaitCallback(run) : runAgent(input, admitted, run),
    announce.announceStart({ attemptId }).then((takes) => {
      // A history from before commands has no value here.
      run.takes = takes ?? undefined;
    }),
  ]);
  timer.cancel();
  if (ending.by === 'callback') {
    await observe(input, admitted.hostId, ending.claimDigest);
  }
  return complete(input, run, ending);
}

/**
 * Ends the run when its time is up, whichever workers die meanwhile and wherever its agent is.
 *
 * @param afterMs absent from the admission of earlier versions: their histories have no timer
 */
function startTimer(run: RunMessages, afterMs: number | undefined): CancellationScope {
  const scope = new CancellationScope();
  if (afterMs === undefined) {
    return scope;
  }
  scope
    .run(() => sleep(afterMs, { summary: 'time limit of the run' }))
    .then(
      () => {
        run.timedOutAfterMs = afterMs;
        run.view.log('Its time is up.');
      },
      () => undefined,
    );
  return scope;
}

/** Waits for an agent elsewhere to report, for a stop, or until its time is up. */
async function awaitCallback(run: RunMessages): Promise<Ending> {
  await condition(() => run.claimDigest !== undefined || run.isCutShort);
  if (run.claimDigest !== undefined) {
    return { by: 'callback', claimDigest: run.claimDigest };
  }
  return run.cutShort() ?? { by: 'stop', actor: 'unknown' };
}

/** Has the host of the worktree inspect it before the reported end is judged; claims that it cannot check stay unverified. */
async function observe({ attemptId, timings }: AgentRunInput, hostId: string | null, claimDigest: string) {
  if (hostId === null || !patched('observe-reported-end')) {
    return;
  }
  try {
    await observeOn(hostId, timings).observeEnd({ attemptId, claimDigest });
  } catch (error) {
    log.warn('worktree observation failed', { attemptId, hostId, error });
  }
}

import { CancellationScope, condition, log, patched, sleep, upsertSearchAttributes } from '@temporalio/workflow';
import type { Reattached } from '../../activities/reattach';
import { searchAttributes } from '../../platform/temporal/search-attributes';
import { admission, announce, completion, observeOn } from './activities';
import { awaitTurn } from './admission';
import { showApprovals } from './approvals';
import { acceptCommands } from './commands';
import { abandon, complete, refuse } from './complete';
import type { Ending } from './ending';
import type { AgentRunInput, FoundRun, RunEnd } from './messages';
import { followPhases } from './phases';
import { prepare } from './prepare';
import { goOnWithAgent, reclaim, runAgent } from './run-agent';
import { RunMessages } from './run-messages';
import { outOfReach, showFound, whyLost } from './take-up';

/**
 * One attempt from admission to completion. Whatever happens in between, the end is recorded once and the
 * reservation is given back; a lost worker is followed by a retry as an attempt of its own.
 */
export async function agentRun(input: AgentRunInput): Promise<RunEnd> {
  const run = new RunMessages(input);
  followPhases(run, acceptCommands(run, input.timings));
  showApprovals(run);
  // An operator's "cancel" in the Temporal UI is a stop: it ends the agent and is recorded like any other.
  CancellationScope.current().cancelRequested.catch(() => run.stopByOperator());
  return CancellationScope.nonCancellable(() => attempt(input, run));
}

async function attempt(input: AgentRunInput, run: RunMessages): Promise<RunEnd> {
  return input.found ? takeUp(input, input.found, run) : launched(input, run);
}

/** Goes on with an attempt that was found without its workflow; one that has ended meanwhile is left as it is. */
async function takeUp(input: AgentRunInput, found: FoundRun, run: RunMessages): Promise<RunEnd> {
  const over = await completion.endOf({ attemptId: input.attemptId });
  if (over) return run.finish(over);
  if (found.next === 'launch') return launched(input, run);
  showFound(run, found);
  if (found.next === 'callback') {
    run.story.become('running', 'The agent works elsewhere and may still report.');
    return complete(input, run, await awaitCallback(run));
  }
  const here = found.dispatched && !run.remote;
  const again = here && found.reattach ? await goOnWithFound(input, found, run) : undefined;
  if (again?.claimed) return complete(input, run, run.cutShort() ?? { by: 'agent' });
  const reclaimed = here ? await reclaim(input, found.hostId, run, found.terminated) : { claimed: false };
  if (reclaimed?.claimed) return complete(input, run, { by: 'agent' });
  const hostReclaimed = reclaimed !== undefined && !outOfReach(found);
  return complete(input, run, { by: 'lost', reason: whyLost(found, again?.reason), hostReclaimed });
}

function goOnWithFound(input: AgentRunInput, { hostId }: FoundRun, run: RunMessages): Promise<Reattached | undefined> {
  run.story.become('running', 'The agent may have outlived its worker.');
  return goOnWithAgent(input, hostId, run);
}

async function launched(input: AgentRunInput, run: RunMessages): Promise<RunEnd> {
  const { attemptId } = input;
  const admitted = await admission.admit(input);
  if (admitted.launch?.status === 'refused') return refuse(run, admitted.launch, admitted.decidedAt);
  run.remote = admitted.provider === 'remote-callback';
  run.story.know('agent', admitted.agent);
  run.story.know('provider', admitted.provider);
  upsertSearchAttributes([
    { key: searchAttributes.agent, value: admitted.agent },
    { key: searchAttributes.provider, value: admitted.provider },
    { key: searchAttributes.phase, value: admitted.phase },
  ]);

  if (admitted.launch?.status === 'queued') {
    run.answer(admitted.launch);
    run.story.become('queued', 'It waits in the queue for capacity.');
    const over = await awaitTurn(run);
    if (over) return abandon(run, over);
  }
  if (run.stop !== undefined) return complete(input, run, { by: 'stop', ...run.stop });

  const launch = await prepare(input, admitted.hostId);
  if (launch.status === 'refused') {
    return abandon(run, launch);
  }
  run.answer(launch);
  run.started = launch;

  run.story.become(
    'running',
    run.remote
      ? 'The contract is stored; the agent works elsewhere and will report.'
      : `The contract is stored; the agent runs on ${admitted.hostId ?? 'the board'}.`,
  );
  const timer = startTimer(run, admitted.timeoutMs);
  const [ending] = await Promise.all([
    run.remote ? awaitCallback(run) : runAgent(input, admitted, run),
    announce.announceStart({ attemptId }).then((takes) => {
      // A history from before commands has no answer here.
      run.takes = takes ?? undefined;
    }),
  ]);
  timer.cancel();
  if (ending.by === 'callback') await observe(input, admitted.hostId, ending.claimDigest);
  return complete(input, run, ending);
}

/**
 * Ends the run when its time is up, whichever workers die meanwhile and wherever its agent is.
 *
 * @param afterMs left out by the admission of earlier versions: their histories have no timer
 */
function startTimer(run: RunMessages, afterMs: number | undefined): CancellationScope {
  const scope = new CancellationScope();
  if (afterMs === undefined) return scope;
  scope
    .run(() => sleep(afterMs, { summary: 'the time of the run' }))
    .then(
      () => {
        run.timedOutAfterMs = afterMs;
        run.story.tell('Its time is up.');
      },
      () => undefined,
    );
  return scope;
}

/** Waits for an agent elsewhere to report, for a stop, or until its time is up. */
async function awaitCallback(run: RunMessages): Promise<Ending> {
  await condition(() => run.claimDigest !== undefined || run.isCutShort);
  if (run.claimDigest !== undefined) return { by: 'callback', claimDigest: run.claimDigest };
  return run.cutShort() ?? { by: 'stop', actor: 'unknown' };
}

/** Has the host of the worktree look at it before the reported end is judged; claims it cannot look at stay unverified. */
async function observe({ attemptId, timings }: AgentRunInput, hostId: string | null, claimDigest: string) {
  if (hostId === null || !patched('observe-reported-end')) return;
  try {
    await observeOn(hostId, timings).observeEnd({ attemptId, claimDigest });
  } catch (error) {
    log.warn('the worktree could not be looked at', { attemptId, hostId, error });
  }
}

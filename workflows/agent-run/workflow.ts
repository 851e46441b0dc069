import {
  ApplicationFailure,
  CancellationScope,
  ParentClosePolicy,
  allHandlersFinished,
  condition,
  isCancellation,
  setCurrentDetails,
  setHandler,
  sleep,
  startChild,
  uuid4,
} from '@temporalio/workflow';
import type { LaunchOutcome } from '../../contracts/launch';
import { boardQueue } from '../queues';
import { admission, announce, completion, dispatchOn, prepareOn, reclaimOn } from './activities';
import {
  agentRunId,
  capacityReserved,
  completeUpdate,
  conflictingClaim,
  launchUpdate,
  notRemote,
  runEnded,
  staleAttempt,
  stopUpdate,
  type AgentRunInput,
  type RunEnd,
} from './messages';

/** How the run came to its end, as the workflow saw it; the records behind it are in the stores. */
type Ending = { by: 'agent' } | { by: 'callback'; claimDigest: string } | { by: 'stop'; actor: string } | { by: 'lost'; reason: string };

/**
 * One attempt from admission to completion. Whatever happens in between, the end is recorded once and the
 * reservation is given back; a lost worker is followed by a retry as an attempt of its own.
 */
export async function agentRun(input: AgentRunInput): Promise<RunEnd> {
  const run = new RunMessages(input.attemptId);

  const admitted = await admission.admit(input);
  if (admitted.launch?.status === 'refused') {
    run.answer(admitted.launch);
    return run.finish({ attemptId: input.attemptId, status: 'refused', endedAt: admitted.decidedAt });
  }
  run.remote = admitted.provider === 'remote-callback';

  let ending: Ending;
  if (admitted.launch?.status === 'queued') {
    run.answer(admitted.launch);
    setCurrentDetails('Queued: waits for capacity.');
    await condition(() => run.hasCapacity || run.stop !== undefined);
  }
  if (run.stop === undefined) {
    const launch = await prepareOn(admitted.hostId).prepare({ attemptId: input.attemptId });
    if (launch.status === 'refused') {
      await CancellationScope.nonCancellable(() => completion.abandon({ attemptId: input.attemptId, launch }));
      run.answer(launch);
      return run.finish({ attemptId: input.attemptId, status: 'refused', endedAt: admitted.decidedAt });
    }
    run.answer(launch);
  }
  if (run.stop !== undefined) ending = { by: 'stop', actor: run.stop.actor };
  else {
    setCurrentDetails(`Running **${admitted.agent}** on task ${input.taskId}.`);
    const [end] = await Promise.all([
      run.remote ? awaitCallback(run) : runAgent(input, admitted.hostId, run),
      announce.announceStart({ attemptId: input.attemptId }),
    ]);
    ending = end;
  }
  return CancellationScope.nonCancellable(() => complete(input, run, ending));
}

/** Runs the agent's process on its host; a lost worker or a stop is an ending, not an error. */
async function runAgent(input: AgentRunInput, hostId: string | null, run: RunMessages): Promise<Ending> {
  const scope = new CancellationScope();
  const dispatched = scope.run(() => dispatchOn(hostId, input.timings).dispatch({ attemptId: input.attemptId }));
  void condition(() => run.stop !== undefined).then(() => scope.cancel());
  try {
    await dispatched;
    return run.stop ? { by: 'stop', actor: run.stop.actor } : { by: 'agent' };
  } catch (error) {
    const reclaimed = await CancellationScope.nonCancellable(() => reclaimOn(hostId).reclaim({ attemptId: input.attemptId }));
    if (run.stop) return { by: 'stop', actor: run.stop.actor };
    if (reclaimed.claimed) return { by: 'agent' };
    return { by: 'lost', reason: isCancellation(error) ? 'cancelled' : 'the worker that ran the agent was lost' };
  }
}

/** Waits for an agent elsewhere to report, or for a stop. */
async function awaitCallback(run: RunMessages): Promise<Ending> {
  await condition(() => run.claimDigest !== undefined || run.stop !== undefined);
  if (run.claimDigest !== undefined) return { by: 'callback', claimDigest: run.claimDigest };
  return { by: 'stop', actor: run.stop?.actor ?? 'unknown' };
}

/** Records the end, then starts the retry if one is due. */
async function complete(input: AgentRunInput, run: RunMessages, ending: Ending): Promise<RunEnd> {
  const end = await completion.finish({
    attemptId: input.attemptId,
    ending,
    nextAttemptId: `attempt_${uuid4().replaceAll('-', '').slice(0, 12)}`,
    maxRetries: input.maxRetries,
    retryBackoffMs: input.timings.retryBackoffMs,
  });
  run.end = { attemptId: input.attemptId, status: end.status, endedAt: end.endedAt };
  if (end.retry) {
    setCurrentDetails(`Ended ${end.status}; retried as ${end.retry.attemptId}.`);
    await sleep(end.retry.backoffMs, { summary: 'retry backoff' });
    await startChild(agentRun, {
      workflowId: agentRunId(end.retry.attemptId),
      taskQueue: boardQueue,
      parentClosePolicy: ParentClosePolicy.ABANDON,
      args: [
        {
          ...input,
          attemptId: end.retry.attemptId,
          retry: {
            parentAttemptId: input.attemptId,
            rootAttemptId: input.retry?.rootAttemptId ?? input.attemptId,
            retryNumber: end.retry.retryNumber,
          },
        },
      ],
      staticSummary: `retry ${end.retry.retryNumber} of ${input.attemptId}`,
    });
  }
  return run.finish(run.end);
}

/** What has been said to the run so far; the handlers are set before the first await. */
class RunMessages {
  launch: LaunchOutcome | undefined;
  stop: { actor: string } | undefined;
  claimDigest: string | undefined;
  end: RunEnd | undefined;
  hasCapacity = false;
  remote: boolean | undefined;

  constructor(private readonly attemptId: string) {
    setHandler(capacityReserved, () => {
      this.hasCapacity = true;
    });
    setHandler(launchUpdate, async () => {
      await condition(() => this.launch !== undefined);
      return this.launch ?? fail(runEnded, 'The launch was never decided.');
    });
    setHandler(
      stopUpdate,
      async ({ actor }) => {
        this.stop ??= { actor };
        await condition(() => this.end !== undefined);
        return this.end ?? fail(runEnded, 'The run has ended.');
      },
      {
        validator: ({ attemptId }) => {
          this.checkAttempt(attemptId);
          if (this.end) fail(runEnded, 'The run has ended.');
        },
      },
    );
    setHandler(
      completeUpdate,
      async ({ claimDigest }) => {
        this.claimDigest ??= claimDigest;
        if (this.claimDigest !== claimDigest) fail(conflictingClaim, 'Another terminal claim was made first.');
        await condition(() => this.end !== undefined);
        return this.end ?? fail(runEnded, 'The run has ended.');
      },
      {
        validator: ({ attemptId, claimDigest }) => {
          this.checkAttempt(attemptId);
          if (this.remote === false) fail(notRemote, 'Only a remote agent reports its own completion.');
          if (this.claimDigest !== undefined && this.claimDigest !== claimDigest) {
            fail(conflictingClaim, 'Another terminal claim was made first.');
          }
        },
      },
    );
  }

  answer(launch: LaunchOutcome): void {
    this.launch ??= launch;
  }

  /** Lets every update that waits for the end have its answer before the workflow closes. */
  async finish(end: RunEnd): Promise<RunEnd> {
    this.end = end;
    await condition(allHandlersFinished);
    return end;
  }

  private checkAttempt(attemptId: string): void {
    if (attemptId !== this.attemptId) fail(staleAttempt, `This run is ${this.attemptId}.`);
  }
}

/** Rejects an update with a typed failure; a plain Error would only retry the workflow task. */
function fail(type: string, message: string): never {
  throw ApplicationFailure.create({ type, message, nonRetryable: true });
}

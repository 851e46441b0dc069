import {
  CancellationScope,
  ParentClosePolicy,
  allHandlersFinished,
  condition,
  isCancellation,
  log,
  patched,
  setHandler,
  sleep,
  startChild,
  upsertSearchAttributes,
  uuid4,
} from '@temporalio/workflow';
import type { AgentCommandType } from '../../contracts/agent-command';
import type { LaunchOutcome, LaunchRefusal } from '../../contracts/launch';
import { reject } from '../reject';
import { searchAttributes } from '../../platform/temporal/search-attributes';
import { showApprovals } from './approvals';
import { awaitTurn } from './admission';
import type { Admitted } from '../../activities/admission';
import type { Reattached } from '../../activities/reattach';
import type { Retry } from '../../activities/recovery';
import { recoveryId, type RecoveryInput } from '../recovery/messages';
import { followPhases } from './phases';
import { RunStory } from './story';
import { agentLost, outOfReach, showFound, whyLost } from './take-up';
import { ensureWorktree } from './ensure-worktree';
import { acceptCommands, type CommandedRun } from './commands';
import {
  admission,
  announce,
  completion,
  dispatchOn,
  observeOn,
  operator,
  prepareOn,
  reattachOn,
  reclaimOn,
} from './activities';
import {
  agentRunId,
  capacityReserved,
  completeUpdate,
  conflictingClaim,
  invalidCompletion,
  launchUpdate,
  notRemote,
  runEnded,
  staleAttempt,
  stopUpdate,
  type AgentRunInput,
  type CompleteInput,
  type FoundRun,
  type OperatorCompletion,
  type RunEnd,
  type StopInput,
} from './messages';

/** How the run came to its end, as the workflow saw it; the records behind it are in the stores. */
export type Ending =
  | { by: 'agent' }
  | { by: 'callback'; claimDigest: string }
  | { by: 'stop'; actor: string }
  /** It ran longer than `agents.timeoutMinutes` said when it was launched. */
  | { by: 'timeout'; afterMs: number; hostReclaimed?: boolean }
  | { by: 'lost'; reason: string; hostReclaimed: boolean };

/**
 * One attempt from admission to completion. Whatever happens in between, the end is recorded once and the
 * reservation is given back; a lost worker is followed by a retry as an attempt of its own.
 */
export async function agentRun(input: AgentRunInput): Promise<RunEnd> {
  const run = new RunMessages(input);
  followPhases(run, acceptCommands(run, input.timings));
  showApprovals(run);
  // An operator's "cancel" in the Temporal UI is a stop: it ends the agent and is recorded like any other.
  CancellationScope.current().cancelRequested.catch(() => {
    run.stop ??= { actor: 'operator:temporal' };
  });
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
  if (run.stop !== undefined) return complete(input, run, { by: 'stop', actor: run.stop.actor });

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

/** Ends a launch that was refused after its admission, and gives back what it held. */
async function abandon(run: RunMessages, launch: LaunchRefusal): Promise<RunEnd> {
  const { endedAt } = await completion.abandon({ attemptId: run.attemptId, launch });
  return refuse(run, launch, endedAt);
}

function refuse(run: RunMessages, launch: LaunchRefusal, endedAt: string): Promise<RunEnd> {
  run.answer(launch);
  run.story.tell(`Refused with ${launch.code}: ${launch.message}`);
  return run.finish({ attemptId: run.attemptId, status: 'refused', endedAt });
}

/** Prepares the launch; a task whose worktree is not there yet, or not at rest, gets it first. */
async function prepare(input: AgentRunInput, hostId: string | null): Promise<LaunchOutcome> {
  const launch = await prepareOnHost(input, hostId);
  const awaited = launch.status === 'refused' && ['WORKTREE_MISSING', 'WORKTREE_BUSY'].includes(launch.code);
  if (!awaited || hostId === null) return launch;
  return (await ensureWorktree(input, hostId)) ?? (await prepareOnHost(input, hostId));
}

/** A host that stays away refuses the launch; nothing has been started on it. */
async function prepareOnHost({ attemptId, timings }: AgentRunInput, hostId: string | null): Promise<LaunchOutcome> {
  try {
    return await prepareOn(hostId, timings).prepare({ attemptId });
  } catch {
    return {
      status: 'refused',
      code: 'HOST_UNAVAILABLE',
      httpStatus: 409,
      message: `The host ${hostId ?? 'board'} did not prepare the run; start a worker on it and launch again.`,
      details: { hostId },
    };
  }
}

/** Runs the agent's process on its host; a lost worker or a stop is an ending, not an error. */
async function runAgent(
  input: AgentRunInput,
  { hostId, reattach }: Pick<Admitted, 'hostId' | 'reattach'>,
  run: RunMessages,
): Promise<Ending> {
  const scope = new CancellationScope();
  const dispatched = scope.run(() => dispatchOn(hostId, input.timings).dispatch({ attemptId: input.attemptId }));
  void condition(() => run.isCutShort).then(() => scope.cancel());
  try {
    await dispatched;
    return run.cutShort() ?? { by: 'agent' };
  } catch {
    // Histories of earlier versions have no agents that are gone on with.
    const again = reattach === true ? await goOnWithAgent(input, hostId, run) : undefined;
    if (again?.claimed) return run.cutShort() ?? { by: 'agent' };
    const reclaimed = await reclaim(input, hostId, run);
    if (reclaimed?.claimed) return run.timedOutAfterMs === undefined ? { by: 'agent' } : timeout(run.timedOutAfterMs);
    const cutShort = run.cutShort();
    if (cutShort?.by === 'timeout') return { ...cutShort, hostReclaimed: reclaimed !== undefined };
    if (cutShort) return cutShort;
    const reason = `The worker that ran the agent was lost${agentLost(again?.reason)}.`;
    return { by: 'lost', reason, hostReclaimed: reclaimed !== undefined };
  }
}

/**
 * Has the next worker of the host go on with an agent that may have outlived the one before, until the run is to end
 * before its agent does. `undefined` when nobody has looked for it.
 */
async function goOnWithAgent(
  { attemptId, timings }: AgentRunInput,
  hostId: string | null,
  run: RunMessages,
): Promise<Reattached | undefined> {
  if (hostId === null || run.isCutShort) return undefined;
  run.story.tell('Its worker was lost; the next one looks for the agent.');
  const scope = new CancellationScope();
  void condition(() => run.isCutShort).then(() => scope.cancel());
  try {
    return await scope.run(() => reattachOn(hostId, timings).reattach({ attemptId }));
  } catch (error) {
    log.warn('the agent is not gone on with', { attemptId, hostId, error });
    return undefined;
  }
}

/**
 * Ends what a lost worker left behind, or waits for a worker that only Temporal has lost; a stop waits for nobody, nor
 * does a run whose time is up. `undefined` when the host stays away.
 */
async function reclaim(
  { attemptId, timings }: AgentRunInput,
  hostId: string | null,
  run: RunMessages,
  force = false,
): Promise<{ claimed: boolean } | undefined> {
  const host = reclaimOn(hostId, timings);
  const scope = new CancellationScope();
  void condition(() => run.stop !== undefined).then(() => scope.cancel());
  try {
    if (run.stop === undefined && !force) return await scope.run(() => host.reclaim({ attemptId, force: false }));
  } catch (error) {
    if (!isCancellation(error)) return undefined;
  }
  try {
    return await host.reclaim({ attemptId, force: true });
  } catch {
    return undefined;
  }
}

const timeout = (afterMs: number): Ending => ({ by: 'timeout', afterMs });

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
  run.story.become(end.status, endOf(ending, end.status));
  if (end.retry) run.story.tell(`It is tried again as ${end.retry.attemptId}.`);
  if (end.retry) {
    await followUp(input, end.retry);
  }
  return run.finish(run.end);
}

/** Leaves what follows to a workflow of its own, which can be cancelled while it waits. */
async function followUp({ found: _found, ...input }: AgentRunInput, retry: Retry): Promise<void> {
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
    { key: searchAttributes.workspaceId, value: 'local' },
    { key: searchAttributes.rootObjectiveId, value: input.taskId },
  ];
  if (patched('recovery-workflow')) {
    await startChild<(input: RecoveryInput) => Promise<void>>('recovery', {
      ...place,
      workflowId: recoveryId(input.attemptId),
      args: [{ attemptId: input.attemptId, next, backoffMs: retry.backoffMs }],
      staticSummary: `recovery of ${input.attemptId}`,
      typedSearchAttributes: [...attributes, { key: searchAttributes.attemptId, value: input.attemptId }],
    });
    return;
  }
  await sleep(retry.backoffMs, { summary: 'retry backoff' });
  await startChild(agentRun, {
    ...place,
    workflowId: agentRunId(retry.attemptId),
    args: [next],
    staticSummary: `retry ${retry.retryNumber} of ${input.attemptId}`,
    typedSearchAttributes: [
      ...attributes,
      { key: searchAttributes.attemptId, value: retry.attemptId },
      { key: searchAttributes.runState, value: 'admitting' },
    ],
  });
}

function endOf(ending: Ending, status: string): string {
  switch (ending.by) {
    case 'agent':
      return `The agent ended; the run is ${status}.`;
    case 'callback':
      return `The end was reported; the run is ${status}.`;
    case 'stop':
      return `Stopped by ${ending.actor}; the run is ${status}.`;
    case 'timeout':
      return `It took longer than it may; the run is ${status}.`;
    case 'lost':
      return `${ending.reason} The run is ${status}.`;
  }
}

/** What has been said to the run so far; the handlers are set before the first await. */
class RunMessages implements CommandedRun {
  /** The launch once its contract is stored; what the caller was answered first may have been `queued`. */
  started: LaunchOutcome | undefined;
  takes: readonly AgentCommandType[] | undefined;
  launch: LaunchOutcome | undefined;
  stop: { actor: string } | undefined;
  timedOutAfterMs: number | undefined;
  claimDigest: string | undefined;
  end: RunEnd | undefined;
  hasCapacity = false;
  remote: boolean | undefined;
  readonly attemptId: string;
  readonly story: RunStory;

  constructor({ taskId, attemptId }: AgentRunInput) {
    this.attemptId = attemptId;
    this.story = new RunStory(taskId, attemptId);
    setHandler(capacityReserved, () => {
      this.hasCapacity = true;
    });
    setHandler(launchUpdate, async () => {
      await lasting(() => this.launch !== undefined);
      return this.launch ?? reject(runEnded, 'The launch was never decided.');
    });
    setHandler(
      stopUpdate,
      async ({ actor }) => {
        this.stop ??= { actor };
        this.story.tell(`${actor} asked to stop it.`);
        await lasting(() => this.end !== undefined);
        return this.end ?? reject(runEnded, 'The run has ended.');
      },
      {
        validator: ({ attemptId }: StopInput) => {
          this.checkAttempt(attemptId);
          if (this.end) reject(runEnded, 'The run has ended.');
        },
      },
    );
    setHandler(
      completeUpdate,
      async (given) => {
        const claimDigest = 'claimDigest' in given ? given.claimDigest : await this.writeClaim(given);
        this.claimDigest ??= claimDigest;
        if (this.claimDigest !== claimDigest) reject(conflictingClaim, 'Another terminal claim was made first.');
        await lasting(() => this.end !== undefined);
        return this.end ?? reject(runEnded, 'The run has ended.');
      },
      {
        validator: (given: CompleteInput | OperatorCompletion) => {
          this.checkAttempt(given.attemptId);
          if (this.remote === false) reject(notRemote, 'Only a remote agent reports its own completion.');
          if (!('claimDigest' in given)) checkCompletion(given);
          else if (this.claimDigest !== undefined && this.claimDigest !== given.claimDigest) {
            reject(conflictingClaim, 'Another terminal claim was made first.');
          }
        },
      },
    );
  }

  get isEnding(): boolean {
    return this.end !== undefined || this.isCutShort;
  }

  get isCutShort(): boolean {
    return this.stop !== undefined || this.timedOutAfterMs !== undefined;
  }

  /** Why it ends before its agent does, if it does. */
  cutShort(): Ending | undefined {
    if (this.stop) return { by: 'stop', actor: this.stop.actor };
    return this.timedOutAfterMs === undefined ? undefined : timeout(this.timedOutAfterMs);
  }

  answer(launch: LaunchOutcome): void {
    this.launch ??= launch;
  }

  /** Lets every update that waits for the end have its answer before the workflow closes. */
  async finish(end: RunEnd): Promise<RunEnd> {
    this.end = end;
    await lasting(allHandlersFinished);
    return end;
  }

  /** Keeps what an operator says of the end in the stores, where every claim is. */
  private async writeClaim(given: OperatorCompletion): Promise<string> {
    this.story.tell(`${given.actor} says that it ended: ${given.status}.`);
    return CancellationScope.nonCancellable(() => operator.writeClaim(given));
  }

  private checkAttempt(attemptId: string): void {
    if (attemptId !== this.attemptId) reject(staleAttempt, `This run is ${this.attemptId}.`);
  }
}

/** Waits for a condition also after an operator's cancel, which is a stop like any other and has an end to be told. */
const lasting = (met: () => boolean): Promise<void> => CancellationScope.nonCancellable(() => condition(met));

/** An operator types this by hand: nothing about its shape is certain. */
function checkCompletion({ status, summary, actor }: OperatorCompletion): void {
  const statuses = ['success', 'blocked', 'failed', 'interrupted', 'partial'];
  if (!statuses.includes(status)) reject(invalidCompletion, `status is one of ${statuses.join(', ')}.`);
  if (typeof summary !== 'string' || summary.length === 0 || summary.length > 20_000) {
    reject(invalidCompletion, 'summary says how it ended, in 1 to 20000 characters.');
  }
  if (typeof actor !== 'string' || actor.length === 0 || actor.length > 200) {
    reject(invalidCompletion, 'actor says who it is from, in 1 to 200 characters.');
  }
}

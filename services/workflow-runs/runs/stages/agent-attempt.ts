import { CancellationScope, condition, isCancellation, proxyActivities } from '@temporalio/workflow';
import type { AgentActivities } from '../../board/activities';
import type { AgentAttempt, AgentEnd, AgentLaunch, AgentLaunched, AgentProgress } from '../../board/messages';
import { addedUsage } from '../../usage/sum';
import { SuspendedError } from '../execution/continuation';
import type { AgentUnderWay, StageUnderWay } from '../execution/cursor';
import { type StageContext, wait } from '../execution/stages';

const retry = { initialInterval: '1 second', maximumInterval: '1 minute' } as const;

/** Short requests to the board. */
const { launchAgent, readAgent } = proxyActivities<Pick<AgentActivities, 'launchAgent' | 'readAgent'>>({
  startToCloseTimeout: '2 minutes',
  heartbeatTimeout: '15 seconds',
  retry,
});
const { awaitAgent } = proxyActivities<Pick<AgentActivities, 'awaitAgent'>>({
  startToCloseTimeout: '10 minutes',
  heartbeatTimeout: '15 seconds',
  retry,
});
/** A board that is not reached in this time does not keep a run from its end; the agent runs on there. */
const { stopAgent } = proxyActivities<Pick<AgentActivities, 'stopAgent'>>({
  startToCloseTimeout: '2 minutes',
  scheduleToCloseTimeout: '3 minutes',
  heartbeatTimeout: '15 seconds',
  retry,
});

/** The pause before the board is asked again, which is doubled each time, and the longest, in milliseconds. */
const pause = { first: 2_000, longest: 60_000 };
/** How long an agent is waited for at a time, in milliseconds. */
const waitMs = 300_000;

interface Around {
  run: StageContext;
  underWay: StageUnderWay;
  launch: Omit<AgentLaunch, 'key'>;
  attempt: number;
}

/**
 * Has the board launch an agent, when it may, and waits for its end. One that is waited for no longer is stopped.
 *
 * @throws SuspendedError when the execution continues as new first
 */
export async function awaitLaunched(agent: AgentUnderWay, around: Around): Promise<AgentEnd> {
  try {
    const refused = agent.attemptId === undefined ? await untilLaunched(agent, around) : undefined;
    const end = refused ?? (await untilEnded(agent, around));
    if (end.status === 'refused' && around.run.board.root === agent.attemptId) {
      // No tree has it as its root.
      delete around.run.board.root;
    }
    return end;
  } catch (error) {
    if (isCancellation(error)) {
      await stop(agent, around);
    }
    throw error;
  }
}

/** Launches it, again and again while the board refuses that for now. Returns why it was not launched, if it was not. */
async function untilLaunched(agent: AgentUnderWay, around: Around): Promise<AgentEnd | undefined> {
  const { run, underWay, attempt } = around;
  const { stage } = underWay;
  for (let pauseMs = pause.first; ; pauseMs = Math.min(pauseMs * 2, pause.longest)) {
    suspendIfDue(run);
    if (isOver(agent)) {
      return { status: 'timeout', summary: 'The board launched no agent in time.' };
    }
    const launched = await launchOnce(agent, around);
    if ('attemptId' in launched) {
      const { taskId, attemptId } = launched;
      Object.assign(agent, { taskId, attemptId });
      run.board.root ??= attemptId;
      run.progress.noteAgent(stage, { task_id: taskId, attempt_id: attemptId });
      await run.progress.flush();
      return undefined;
    }
    if ('failed' in launched) {
      return { status: 'refused', summary: launched.failed };
    }
    const retryAfterMs = 'refused' in launched ? (launched.retryAfterMs ?? 0) : 0;
    agent.refusals += 'refused' in launched ? 1 : 0;
    run.progress.record(
      { AgentWaiting: { stage_id: stage.id, reason: launched.reason } },
      `${stage.id}/${attempt}.${agent.refusals}`,
    );
    await run.progress.flush();
    await pauseFor(Math.max(pauseMs, retryAfterMs), agent, around);
  }
}

/** The first launch of a run is the root of its tree, which the others join: they wait for it. */
async function launchOnce(agent: AgentUnderWay, { run, launch, attempt }: Around): Promise<AgentLaunched> {
  const { board, continuation } = run;
  while (board.root === undefined && board.launching) {
    await condition(() => board.root !== undefined || !board.launching);
  }
  const isFirst = board.root === undefined;
  board.launching ||= isFirst;
  const key = `${launch.runId}/${launch.stageId}/${attempt}.${agent.refusals}`;
  const root = board.root === undefined ? {} : { root: board.root };
  try {
    // What the board has launched is stopped when the run is cancelled meanwhile.
    return await CancellationScope.nonCancellable(() =>
      continuation.duringPrompt(() => launchAgent({ ...launch, ...root, key })),
    );
  } finally {
    board.launching &&= !isFirst;
  }
}

async function untilEnded(agent: AgentUnderWay, around: Around): Promise<AgentEnd> {
  const { run, underWay } = around;
  let isRunning = false;
  for (let pauseMs = pause.first; ;) {
    suspendIfDue(run);
    if (isOver(agent)) {
      await stop(agent, around);
      return { status: 'timeout', summary: 'It was stopped when its time was over.' };
    }
    const { state, attemptId, agent: name, used, end } = await read(agent, around, isRunning);
    isRunning = state === 'running';
    agent.name = name;
    agent.used = addedUsage(agent.used, used);
    if (attemptId !== agent.attemptId) {
      agent.attemptId = attemptId;
      run.progress.noteAgent(underWay.stage, { task_id: agent.taskId ?? '', attempt_id: attemptId });
    }
    if (end) {
      return end;
    }
    if (!isRunning) {
      await run.progress.flush();
      await pauseFor(pauseMs, agent, around);
    }
    pauseMs = isRunning ? pause.first : Math.min(pauseMs * 2, pause.longest);
  }
}

function read(agent: AgentUnderWay, around: Around, isRunning: boolean): Promise<AgentProgress> {
  const { untilMs = Infinity } = agent;
  const forMs = Math.max(1, Math.min(waitMs, untilMs - Date.now()));
  return around.run.continuation.duringPrompt(() =>
    isRunning ? awaitAgent({ ...attemptOf(agent, around), forMs }) : readAgent(attemptOf(agent, around)),
  );
}

/** Waits; meanwhile the run does not work. */
async function pauseFor(
  forMs: number,
  { untilMs = Infinity }: AgentUnderWay,
  { run, underWay }: Around,
): Promise<void> {
  const until = Math.min(Date.now() + forMs, untilMs);
  await wait(() => false, run, { untilMs: until, summary: `agent of ${underWay.stage.id}` });
}

async function stop(agent: AgentUnderWay, around: Around): Promise<void> {
  if (agent.attemptId !== undefined) {
    await CancellationScope.nonCancellable(() => stopAgent(attemptOf(agent, around)).catch(() => undefined));
  }
}

const attemptOf = ({ taskId = '', attemptId = '' }: AgentUnderWay, { launch }: Around): AgentAttempt => ({
  ...{ runId: launch.runId, stageId: launch.stageId, taskId, attemptId },
});

const isOver = ({ untilMs = Infinity }: AgentUnderWay): boolean => Date.now() >= untilMs;

function suspendIfDue({ continuation }: StageContext): void {
  if (continuation.isDue) {
    throw new SuspendedError();
  }
}

import { createHash } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { ApplicationFailure } from '@temporalio/common';
import { withHeartbeat } from '../../../platform/temporal/heartbeat';
import type { StageMessageStore } from '../runs/execution/turns';
import { type BoardClient, BoardRefusal } from './board-client';
import { followAttempt } from './follow';
import { type AgentAttempt, agentFailed, type AgentLaunch, type AgentLaunched, type AgentProgress } from './messages';

/** How often an attempt is read that is waited for, in milliseconds. */
const pollMs = 1_000;

/** What the board refuses launches with that it may take later. */
const forNow: ReadonlySet<string> = new Set([
  ...['ADMISSION_OVERLOAD', 'ADMISSION_QUEUE_OVERFLOW', 'EXECUTION_TREE_EXPANSION_PAUSED'],
  ...['RUN_ACTIVE', 'AUTOMATION_RUNNING', 'IDEMPOTENCY_KEY_IN_USE'],
]);

export interface AgentDependencies {
  /** Absent where no agents are launched. */
  board?: BoardClient | undefined;
  turns: StageMessageStore;
}

/** What runs with agents have the board do. */
export function createAgentActivities({ board, turns }: AgentDependencies) {
  function boardOf(): BoardClient {
    if (!board) {
      throw ApplicationFailure.nonRetryable(
        'Agents are not launched here: WORKFLOW_RUNS_BOARD_URL is not set.',
        agentFailed,
      );
    }
    return board;
  }

  const describe = async (attempt: AgentAttempt): Promise<AgentProgress> => {
    try {
      return await followAttempt(boardOf(), attempt);
    } catch (error) {
      throw isFinal(error) ? ApplicationFailure.nonRetryable(reasonOf(error), agentFailed) : error;
    }
  };

  async function launchOnce({ task, ...asked }: AgentLaunch): Promise<AgentLaunched> {
    const client = boardOf();
    const { runId, stageId } = asked;
    const launch = { ...asked, key: keyOf(asked.key) };
    let taskId: string | undefined;
    try {
      taskId = 'id' in task ? task.id : await client.createTask(task, keyOf(`${runId}/${stageId}`));
      return await client.launch(taskId, launch);
    } catch (error) {
      const known = taskId === undefined ? {} : { taskId };
      if (!(error instanceof BoardRefusal) || error.status >= 500) {
        return { ...known, unknown: true, reason: `The board does not answer: ${reasonOf(error)}` };
      }
      const { code, status, retryAfterMs } = error;
      if (status === 429 || forNow.has(code)) {
        return {
          ...known,
          refused: code,
          reason: reasonOf(error),
          ...(retryAfterMs !== undefined && { retryAfterMs }),
        };
      }
      return { failed: reasonOf(error) };
    }
  }

  async function stopOnce({ taskId, attemptId: first }: AgentAttempt): Promise<void> {
    const client = boardOf();
    try {
      const { attemptId, state } = await followAttempt(client, { taskId, attemptId: first });
      if (state === 'ended') {
        return;
      }
      const { state: own } = await client.attempt({ taskId, attemptId });
      await (own === 'ended' ? client.cancelRecovery(taskId, attemptId) : client.stop({ taskId, attemptId }));
    } catch (error) {
      // It has ended meanwhile, or another followed, which the next try finds.
      if (!isFinal(error) || (await describe({ runId: '', stageId: '', taskId, attemptId: first })).state !== 'ended') {
        throw error;
      }
    }
  }

  return {
    /**
     * Launches an agent on a task of the board, which is made first when there is none. The same when this is repeated.
     *
     * @throws ApplicationFailure `AGENT` where no agents are launched
     */
    launchAgent: (launch: AgentLaunch): Promise<AgentLaunched> => withHeartbeat(() => launchOnce(launch)),

    /** Where an attempt is, or the one that followed it. @throws ApplicationFailure `AGENT` when the board has it no more */
    readAgent: (attempt: AgentAttempt): Promise<AgentProgress> => withHeartbeat(() => describe(attempt)),

    /** The same, when it does not run any more, or after `forMs` milliseconds. */
    awaitAgent: ({ forMs, ...attempt }: AgentAttempt & { forMs: number }): Promise<AgentProgress> =>
      withHeartbeat(async (signal) => {
        const until = Date.now() + forMs;
        for (;;) {
          const progress = await describe(attempt);
          if (progress.state !== 'running' || progress.attemptId !== attempt.attemptId || Date.now() >= until) {
            return progress;
          }
          await delay(pollMs, undefined, { signal });
        }
      }),

    /** Stores what an agent was to do and what it reports, as the turns of its stage. Repeatable. */
    storeAgentTurns: ({
      runId,
      stageId,
      prompt,
      summary,
    }: {
      runId: string;
      stageId: string;
      prompt: string;
      summary: string;
    }) =>
      turns.put(runId, stageId, [
        { kind: 'user', content: prompt },
        { kind: 'assistant', content: summary },
      ]),

    /** Stops an attempt, or the one that followed it, and what is to follow. Repeatable; nothing for one that has ended. */
    stopAgent: (attempt: AgentAttempt): Promise<void> => withHeartbeat(() => stopOnce(attempt)),
  };
}

/** An idempotency key of the board: short, and of any characters. */
const keyOf = (text: string): string => `workflow-run-${createHash('sha256').update(text).digest('hex')}`;

const isFinal = (error: unknown): error is BoardRefusal =>
  error instanceof BoardRefusal && error.status < 500 && error.status !== 429;

const reasonOf = (error: unknown): string =>
  error instanceof BoardRefusal
    ? `${error.code}: ${error.message}`
    : error instanceof Error
      ? error.message
      : String(error);

export type AgentActivities = ReturnType<typeof createAgentActivities>;

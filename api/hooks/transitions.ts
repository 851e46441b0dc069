import { setTimeout as delay } from 'node:timers/promises';
import { WorkflowExecutionAlreadyStartedError, type Client } from '@temporalio/client';
import type { Task } from '../../contracts/task';
import { startProofMs, type MessageProofs } from '../../platform/crypto/message-proof';
import { errorMessage } from '../../platform/errors/app-error';
import type { Log } from '../../platform/log/log';
import { hookFits } from '../../runs/hook-events';
import { eachLimited } from '../../stores/board-files/each-limited';
import { locations } from '../../stores/board-files/layout';
import type { Board, BoardChange } from '../../stores/board-files/types';
import type { HookStore } from '../../stores/hook-store';
import type { Noticed, PendingTransition, TaskStandingStore } from '../../stores/task-standing-store';
import { transitionMessage } from '../../workflows/message-proofs';
import { boardQueue } from '../../workflows/queues';
import { taskTransitionId, type HookTimings } from '../../workflows/task-transition/messages';
import type { taskTransition } from '../../workflows/task-transition/workflow';
import { withProof } from '../temporal/with-proof';

export interface TransitionDependencies {
  board: Pick<Board, 'list' | 'onChange'>;
  hooks: Pick<HookStore, 'list'>;
  standings: TaskStandingStore;
  client: Client;
  proofs: Pick<MessageProofs, 'sign'>;
  log: Log;
  timings: HookTimings;
}

const pageSize = 1_000;
const atOnce = 8;
/** How long until what could not be noted or told is tried again, in milliseconds. */
const againAfterMs = 1_000;
const sweepEveryMs = 60_000;

/**
 * Notices what happens to tasks, whoever makes it happen: a caller, a run, an editor, also while no process was there. It
 * is noted first and told after that, so that nothing is lost in between; every process may do this at the same time.
 */
export class TransitionWatcher {
  readonly #queue: Noticed[] = [];
  /** What each task stood like when it was last noted by this process: most changes of a task are of no interest. */
  readonly #known = new Map<string, string>();
  #draining: Promise<void> | undefined;
  #sweeper: NodeJS.Timeout | undefined;
  #forget: (() => void) | undefined;
  readonly #stopping = new AbortController();

  constructor(private readonly deps: TransitionDependencies) {}

  async start(): Promise<void> {
    const { board, standings } = this.deps;
    this.#forget = board.onChange((change) => this.#notice(change));
    const silent = !(await standings.isSeeded());
    for (const location of locations) await this.#noteAll(location, silent);
    if (silent) await standings.markSeeded();
    await this.#sweep();
    this.#sweeper = setInterval(() => void this.#sweep(), sweepEveryMs);
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    this.#forget?.();
    clearInterval(this.#sweeper);
    await this.#draining;
  }

  async #noteAll(location: BoardChange['location'], silent: boolean): Promise<void> {
    for (let page = 1; ; page += 1) {
      const { tasks, total } = this.deps.board.list({ page, limit: pageSize }, location);
      await eachLimited(atOnce, tasks, (task) => this.#note(noticed(task, location), silent));
      if (page * pageSize >= total) return;
    }
  }

  #notice({ task, location }: BoardChange): void {
    if (!task || this.#known.get(task.id) === standing(task, location)) return;
    this.#queue.push(noticed(task, location));
    this.#draining ??= this.#drain();
  }

  /** One after the other: what happens to a task is told in its order. */
  async #drain(): Promise<void> {
    for (let [next] = this.#queue; next && !this.#stopping.signal.aborted; [next] = this.#queue) {
      try {
        await this.#note(next, false);
        this.#queue.shift();
      } catch (error) {
        this.deps.log.warn({ taskId: next.taskId, error: errorMessage(error) }, 'a change cannot be told to hooks yet');
        await delay(againAfterMs, undefined, { signal: this.#stopping.signal }).catch(() => undefined);
      }
    }
    this.#draining = undefined;
  }

  async #note(task: Noticed, silent: boolean): Promise<void> {
    const pending = await this.deps.standings.note(task, { silent });
    await this.#tell(task.taskId, pending);
    this.#known.set(task.taskId, `${task.status} ${task.location}`);
  }

  /** Tells what somebody noted and did not get to tell. */
  async #sweep(): Promise<void> {
    try {
      for (let after = ''; ;) {
        const page = await this.deps.standings.waiting(after, pageSize);
        for (const { _id, outbox } of page) await this.#tell(_id, outbox);
        const last = page.at(-1);
        if (!last || page.length < pageSize) return;
        after = last._id;
      }
    } catch (error) {
      this.deps.log.warn({ error: errorMessage(error) }, 'what hooks wait for could not be looked for');
    }
  }

  async #tell(taskId: string, pending: readonly PendingTransition[]): Promise<void> {
    if (pending.length === 0) return;
    const hooks = await this.deps.hooks.list();
    for (const { id, context } of pending) {
      if (hooks.some((hook) => hookFits(hook, context))) await startTransition(this.deps, { id, context });
    }
    await this.deps.standings.told(
      taskId,
      pending.map(({ id }) => id),
    );
  }
}

/** Starts the workflow that runs the hooks of something that happened, unless it was started before. */
export async function startTransition(
  { client, proofs, timings }: Pick<TransitionDependencies, 'client' | 'proofs' | 'timings'>,
  { id, context }: PendingTransition,
): Promise<void> {
  const transition = { id, context };
  try {
    await client.workflow.start<typeof taskTransition>('taskTransition', {
      workflowId: taskTransitionId(id),
      workflowIdReusePolicy: 'REJECT_DUPLICATE',
      taskQueue: boardQueue,
      args: [{ ...withProof(proofs, transition, transitionMessage(transition), startProofMs), timings }],
      staticSummary: `${context.event}: ${context.taskTitle}`.slice(0, 200),
    });
  } catch (error) {
    if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
  }
}

const standing = ({ status }: Task, location: BoardChange['location']): string => `${status} ${location}`;

/** What hooks are told of a task besides what happened to it. */
export function factsOf({ title, type, project, sprint, priority, agent, updatedAt }: Task): Noticed['facts'] {
  return {
    taskTitle: title,
    taskType: type,
    ...(project !== undefined && { project }),
    ...(sprint !== undefined && { sprint }),
    priority,
    ...(agent !== undefined && { agent }),
    timestamp: updatedAt,
  };
}

const noticed = (task: Task, location: BoardChange['location']): Noticed => ({
  taskId: task.id,
  revision: task.revision,
  status: task.status,
  location,
  facts: factsOf(task),
});

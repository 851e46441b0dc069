import { setTimeout as delay } from 'node:timers/promises';
import type { HookContext } from '../../../contracts/settings/hook';
import type { Task } from '../../../contracts/tasks/task';
import { hookFits } from '../../../domain/hook-events';
import { dueActions } from '../../../domain/transitions/due-actions';
import { errorMessage } from '../../../platform/errors/app-error';
import { compact } from '../../../platform/json/compact';
import type { Log } from '../../../platform/log/log';
import type { Closer } from '../../../platform/processes/closers';
import { eachLimited } from '../../../stores/board-files/format/each-limited';
import { locations } from '../../../stores/board-files/format/layout';
import type { Board, BoardChange } from '../../../stores/board-files/types';
import type { Stores } from '../../../stores/open-stores';
import type { ObservedTask, PendingTransition } from '../../../stores/tasks/task-transition-outbox';
import type { StartTransition } from '../../../workflows/deliver-hooks/client';

export interface TransitionDependencies extends Pick<Stores, 'hooks' | 'transitionHooks' | 'transitionOutbox'> {
  board: Pick<Board, 'list' | 'onChange'>;
  startTransition: StartTransition;
  log: Log;
  /** How often the outbox is read for transitions that were not delivered, in milliseconds. */
  sweepEveryMs?: number;
}

const pageSize = 1_000;
const atOnce = 8;
/** Pause before a failed record or delivery is tried again, in milliseconds. */
const againAfterMs = 1_000;
const defaultSweepEveryMs = 60_000;

/**
 * Observes the transitions of tasks, whatever causes them: a caller, a run, an editor, also while no process was there. Each is
 * recorded first and delivered after that, so that nothing is lost in between; every process may do this at the same time.
 */
export class TransitionWatcher {
  readonly #queue: ObservedTask[] = [];
  /** The last state of each task that was observed: most changes of a task are of no interest. */
  readonly #observed = new Map<string, string>();
  /** What is recorded and to be delivered, by task. */
  readonly #undelivered = new Map<string, readonly PendingTransition[]>();
  #recording: Promise<void> | undefined;
  #delivering: Promise<void> | undefined;
  #sweeper: NodeJS.Timeout | undefined;
  #sweeping: Promise<void> | undefined;
  #unsubscribe: (() => void) | undefined;
  readonly #stopping = new AbortController();

  constructor(private readonly deps: TransitionDependencies) {}

  async start(): Promise<void> {
    const { board, transitionOutbox, sweepEveryMs = defaultSweepEveryMs } = this.deps;
    this.#unsubscribe = board.onChange((change) => this.#observe(change));
    const silent = !(await transitionOutbox.isSeeded());
    for (const location of locations) {
      await this.#recordAll(location, silent);
    }
    if (silent) {
      await transitionOutbox.markSeeded();
    }
    await this.#sweep();
    this.#sweeper = setInterval(() => {
      this.#sweeping ??= this.#sweep().finally(() => (this.#sweeping = undefined));
    }, sweepEveryMs);
  }

  /**
   * Records what was observed, for the next process to deliver, and waits for deliveries that have begun: one that is retried after
   * its connection was closed would throw out of a timer.
   */
  async stop(): Promise<void> {
    this.#stopping.abort();
    this.#unsubscribe?.();
    clearInterval(this.#sweeper);
    await Promise.all([this.#recording, this.#delivering, this.#sweeping]);
  }

  async #recordAll(location: BoardChange['location'], silent: boolean): Promise<void> {
    for (let page = 1; ; page += 1) {
      const { tasks, total } = this.deps.board.list({ page, limit: pageSize }, location);
      const isDue = await this.#isDue();
      await eachLimited(atOnce, tasks, async (task) => {
        await this.deps.transitionOutbox.record(observedTask(task, location), { silent, isDue });
      });
      if (page * pageSize >= total) {
        return;
      }
    }
  }

  #observe({ task, location }: BoardChange): void {
    if (!task || this.#observed.get(task.id) === stateKey(task, location)) {
      return;
    }
    this.#observed.set(task.id, stateKey(task, location));
    this.#queue.push(observedTask(task, location));
    this.#recording ??= this.#record();
  }

  /** One after the other, and without waiting for deliveries: what is not recorded is lost with this process. */
  async #record(): Promise<void> {
    for (let [next] = this.#queue; next; [next] = this.#queue) {
      try {
        const pending = await this.deps.transitionOutbox.record(next, { silent: false, isDue: await this.#isDue() });
        this.#queue.shift();
        this.#deliver(next.taskId, pending);
      } catch (error) {
        this.deps.log.warn({ taskId: next.taskId, error: errorMessage(error) }, 'hook event not recorded');
        if (this.#stopping.signal.aborted) {
          break;
        }
        await this.#pause();
      }
    }
    this.#recording = undefined;
  }

  #deliver(taskId: string, pending: readonly PendingTransition[]): void {
    if (pending.length > 0) {
      this.#undelivered.set(taskId, pending);
      this.#delivering ??= this.#deliverAll();
    }
  }

  /** One after the other: transitions of a task are delivered in their order. */
  async #deliverAll(): Promise<void> {
    for (let [next] = this.#undelivered; next && !this.#stopping.signal.aborted; [next] = this.#undelivered) {
      const [taskId, pending] = next;
      try {
        await this.#publish(taskId, pending);
        // More may have been recorded meanwhile.
        if (this.#undelivered.get(taskId) === pending) {
          this.#undelivered.delete(taskId);
        }
      } catch (error) {
        this.deps.log.warn({ taskId, error: errorMessage(error) }, 'hook delivery deferred');
        await this.#pause();
      }
    }
    this.#delivering = undefined;
  }

  #pause(): Promise<void> {
    return delay(againAfterMs, undefined, { signal: this.#stopping.signal }).catch(() => undefined);
  }

  /** Delivers recorded transitions whose process did not get to deliver them. */
  async #sweep(): Promise<void> {
    try {
      for (let after = ''; ;) {
        const page = await this.deps.transitionOutbox.listPending(after, pageSize);
        await eachLimited(atOnce, page, async ({ _id, outbox }) => {
          if (!this.#stopping.signal.aborted) {
            await this.#publish(_id, outbox);
          }
        });
        const last = page.at(-1);
        if (!last || page.length < pageSize || this.#stopping.signal.aborted) {
          return;
        }
        after = last._id;
      }
    } catch (error) {
      this.deps.log.warn({ error: errorMessage(error) }, 'hook outbox read failed');
    }
  }

  async #publish(taskId: string, pending: readonly PendingTransition[]): Promise<void> {
    if (pending.length === 0) {
      return;
    }
    const isDue = await this.#isDue();
    for (const { id, context } of pending) {
      if (isDue(context)) {
        await this.deps.startTransition({ id, context });
      }
    }
    await this.deps.transitionOutbox.markDelivered(taskId, pending);
  }

  /** Whether a hook or a rule is about a transition, as they are configured now. */
  async #isDue(): Promise<IsDue> {
    const [hooks, { value: rules }] = await Promise.all([this.deps.hooks.list(), this.deps.transitionHooks.read()]);
    return (context) => hooks.some((hook) => hookFits(hook, context)) || dueActions(rules, context).length > 0;
  }
}

type IsDue = (context: HookContext) => boolean;

/** Starts to observe the transitions that trigger hooks and the actions of transition rules; the closer ends that. */
export async function watchTransitions(deps: TransitionDependencies): Promise<Closer> {
  const watcher = new TransitionWatcher(deps);
  await watcher.start();
  return () => watcher.stop();
}

const stateKey = ({ status }: Task, location: BoardChange['location']): string => `${status} ${location}`;

/** The facts of a task that hooks receive besides the transition. */
export function factsOf({ title, type, project, sprint, priority, agent, updatedAt }: Task): ObservedTask['facts'] {
  return compact({ taskTitle: title, taskType: type, project, sprint, priority, agent, timestamp: updatedAt });
}

const observedTask = (task: Task, location: BoardChange['location']): ObservedTask => ({
  taskId: task.id,
  revision: task.revision,
  status: task.status,
  location,
  facts: factsOf(task),
});

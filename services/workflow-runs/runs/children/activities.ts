import { ApplicationFailure } from '@temporalio/common';
import { AppError } from '../../../../platform/errors/app-error';
import { withHeartbeat } from '../../../../platform/temporal/heartbeat';
import { valueAt } from '../../graph/values';
import type { RunCommands } from '../commands';
import type { Dispatcher } from '../dispatcher';
import { type Guidance, tooMuch } from '../execution/messages';
import { hasEnded, type RunRecord, type RunStatus, type RunVars, type TreeBudget } from '../run';
import type { RunStore } from '../store';
import type { ParentNotifier } from './notify-parent';
import { childFailed, type ChildRunOpener } from './open-child';
import type { ChildRunStore, Used } from './store';

export interface ChildRunInput {
  /** The parent. */
  runId: string;
  stageId: string;
  attempt: number;
  /** The slug of the workflow that is run. */
  workflow: string;
  vars: RunVars;
  budgets: TreeBudget[];
}

/** How a child run has ended. */
export interface ChildEnd {
  status: RunStatus;
  /** The value that its parent reads of it. */
  output?: unknown;
  error?: string;
}

export interface ChildRunDependencies {
  runs: RunStore;
  children: ChildRunStore;
  commands: RunCommands;
  openChild: ChildRunOpener;
  notifyParent: ParentNotifier;
  dispatcher: Pick<Dispatcher, 'lookAgain'>;
  now: () => Date;
}

/** How many runs get a message at the same time. */
const atOnce = 10;
/** The part of an output that a run stores among its values, in characters as JSON. */
const storedCharacters = 65_536;
const late = 'The child run has ended.';

/** What runs do with their child runs. */
export function createChildRunActivities(dependencies: ChildRunDependencies) {
  const { runs, children, commands, openChild, notifyParent, dispatcher, now } = dependencies;

  /** @throws the first failure, after every run had its turn */
  async function each(parentId: string, act: (run: RunRecord) => Promise<void>): Promise<void> {
    const pending = (await runs.childrenOf(parentId)).filter(({ status }) => !hasEnded(status));
    const failures: unknown[] = [];
    const work = async (): Promise<void> => {
      for (let run = pending.pop(); run; run = pending.pop()) {
        await act(run).catch((error: unknown) => void failures.push(error));
      }
    };
    await withHeartbeat(() => Promise.all(Array.from({ length: atOnce }, work)));
    if (failures.length > 0) {
      throw failures[0];
    }
  }

  /** One that has ended meanwhile needs no message. */
  async function unlessEnded(runId: string, send: () => Promise<void>): Promise<void> {
    try {
      await send();
    } catch (error) {
      const run = error instanceof AppError && error.status === 409 ? await runs.get(runId) : undefined;
      if (!run || !hasEnded(run.status)) {
        throw error;
      }
    }
  }

  const cancel = (run: RunRecord): Promise<void> =>
    unlessEnded(run._id, () => commands.cancel(run, late, { byParent: true }));

  async function pause({ _id, status }: RunRecord): Promise<void> {
    if (status === 'queued') {
      await runs.change(_id, ['queued'], { held: true });
    } else if (status === 'running') {
      await unlessEnded(_id, () => commands.pause(_id, late));
    } else if (status === 'starting') {
      throw ApplicationFailure.retryable(`Run ${_id} is starting.`);
    }
  }

  async function unpause({ _id, status }: RunRecord): Promise<void> {
    if (status === 'queued') {
      await runs.change(_id, ['queued'], { held: false });
    } else if (status === 'paused') {
      await unlessEnded(_id, () => commands.unpause(_id, late));
    }
  }

  /** Returns whether it has room for it. */
  async function steer({ _id, status }: RunRecord, guidance: Guidance & { id: string }): Promise<boolean> {
    if (status === 'queued' && (await runs.addGuidance(_id, { ...guidance, at: now().toISOString() }))) {
      return true;
    }
    if (status === 'queued' || status === 'starting') {
      throw ApplicationFailure.retryable(`Run ${_id} is starting.`);
    }
    try {
      await unlessEnded(_id, () => commands.steer(_id, late, guidance));
      return true;
    } catch (error) {
      if (error instanceof AppError && error.details.reason === tooMuch) {
        return false;
      }
      throw error;
    }
  }

  return {
    /**
     * Queues a child run; the one that is there already when this is repeated. Returns its id.
     *
     * @throws ApplicationFailure `CHILD` when it cannot be run
     */
    openChildRun: (input: ChildRunInput): Promise<string> => withHeartbeat(() => openChild(input)),

    /** How a child run has ended; nothing while it has not. @throws ApplicationFailure `CHILD` when it is not there */
    async readChildRun({ runId, childId, output }: { runId: string; childId: string; output: string[] }) {
      const run = await runs.get(childId);
      if (run?.parent?.run_id !== runId) {
        throw ApplicationFailure.nonRetryable(`There is no child run ${childId}.`, childFailed);
      }
      if (!hasEnded(run.status)) {
        return undefined;
      }
      const value = valueAt(run.context, output) ?? null;
      if (JSON.stringify(value).length > storedCharacters) {
        throw ApplicationFailure.nonRetryable(
          `The output of its child run has more than ${storedCharacters} characters.`,
          childFailed,
        );
      }
      const end: ChildEnd = { status: run.status, output: value, ...(run.error && { error: run.error.message }) };
      return end;
    },

    /** Pauses or resumes the child runs of a run; those that are queued are held back. Repeatable. */
    async pauseChildRuns({ runId, paused }: { runId: string; paused: boolean }): Promise<void> {
      await each(runId, paused ? pause : unpause);
      if (!paused) {
        await dispatcher.lookAgain();
      }
    },

    /**
     * Gives guidance to the child runs of a run; those that are queued begin with it. Repeatable.
     *
     * @returns the ids of those that have as much guidance as they take
     */
    async steerChildRuns({ runId, guidance }: { runId: string; guidance: Guidance & { id: string } }) {
      const full: string[] = [];
      await each(runId, async (run) => {
        if (!(await steer(run, guidance))) {
          full.push(run._id);
        }
      });
      return full;
    },

    /** Cancels one child run of a run, or all of them, also those that are paused. Repeatable. */
    cancelChildRuns: ({ runId, childId }: { runId: string; childId?: string }): Promise<void> =>
      each(runId, async (run) => {
        if (childId === undefined || run._id === childId) {
          await cancel(run);
        }
      }),

    /** Has the parent of a run read that it has ended. */
    reportToParent: ({ runId }: { runId: string }): Promise<void> => notifyParent(runId),

    /** What the runs have used together that each of some budgets covers. */
    async readTreeUsage({ budgets }: { runId: string; budgets: string[] }): Promise<Record<string, Used>> {
      const sums = await Promise.all(budgets.map(async (id) => [id, await children.usageOf(id)] as const));
      return Object.fromEntries(sums);
    },
  };
}

export type ChildRunActivities = ReturnType<typeof createChildRunActivities>;

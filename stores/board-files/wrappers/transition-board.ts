import type { TransitionHooks } from '../../../contracts/settings/transition-hook';
import type { Task } from '../../../contracts/tasks/task';
import { judgeTransition } from '../../../domain/transitions/gates';
import { actionsAfter, firstStatus } from '../../../domain/transitions/rules';
import { timerAfter } from '../../../domain/transitions/timers';
import { newRecordId, operationTime } from '../../../platform/operations/operation';
import type { TraceStore } from '../../governance/trace-store';
import type { TransitionHookStore } from '../../settings/transition-hook-store';
import type { Board, TaskChange, Writer } from '../types';
import { traced, TransitionRefusedError } from './transition-refusal';
import { wrappedBoard } from './wrapped-board';

/** What the rules need besides the change itself. */
export interface TransitionSources {
  transitionHooks: Pick<TransitionHookStore, 'read'>;
  traces: Pick<TraceStore, 'record'>;
}

/**
 * The same board, on which a task's status changes only as the transition rules let it, and its timer with it. Edits of a task's
 * file pass no gate: the board belongs to its editors.
 *
 * Refusals are `AppError` 400 with `details.code`, the type of the first gate that failed.
 */
export function transitionBoard(board: Board, { transitionHooks, traces }: TransitionSources): Board {
  /** Makes a change through `apply`, under the rules of now. */
  async function changed(
    change: TaskChange,
    { gates = 'all' }: Pick<Writer, 'gates'>,
    apply: (guarded: TaskChange) => Promise<Task>,
  ): Promise<Task> {
    const { value: hooks } = await transitionHooks.read();
    if (!hooks.enabled) {
      return apply(change);
    }
    const entry = { id: newRecordId('time'), now: operationTime() };
    const guarded: TaskChange = (current, location) => {
      const fields = change(current, location);
      const after = { ...current, ...fields };
      if (after.status === current.status) {
        return fields;
      }
      if (gates === 'all' || after.status === 'done') {
        assertPasses(hooks, { from: current.status, after, revision: current.revision });
      }
      const transition = { ...after, from: current.status, to: after.status };
      const actions = actionsAfter(hooks, transition).map(({ action }) => action);
      const timeTracking = timerAfter(actions, after.timeTracking, entry);
      return timeTracking ? { ...fields, timeTracking } : fields;
    };
    return traced(traces, () => apply(guarded));
  }

  return wrappedBoard(board, {
    async create(input, options) {
      const { value: hooks } = await transitionHooks.read();
      const after = {
        id: '',
        description: '',
        type: 'code',
        subtasks: [],
        status: firstStatus,
        ...input,
      } as unknown as Task;
      return traced(traces, () => {
        assertPasses(hooks, { from: firstStatus, after, revision: 0 });
        return board.create(input, options);
      });
    },
    update: (id, change, writer) => changed(change, writer, (guarded) => board.update(id, guarded, writer)),
    move: (id, change, mover) => changed(change, mover, (guarded) => board.move(id, guarded, mover)),
  });
}

/** @throws AppError 400 when the task may not be completed now; nothing is changed */
export async function assertMayComplete({ transitionHooks, traces }: TransitionSources, task: Task): Promise<void> {
  const { value: hooks } = await transitionHooks.read();
  await traced(traces, async () =>
    assertPasses(hooks, { from: task.status, after: { ...task, status: 'done' }, revision: task.revision }),
  );
}

/** @throws TransitionRefusedError */
function assertPasses(
  hooks: TransitionHooks,
  { from, after, revision }: { from: Task['status']; after: Task; revision: number },
): void {
  const verdict = judgeTransition(hooks, from, after);
  if (!verdict.allowed) {
    throw new TransitionRefusedError(verdict, { taskId: after.id, from, to: after.status, revision });
  }
}

import type { Task, TaskLocation } from '../../../contracts/tasks/task';
import type { GovernedAction } from '../../../domain/governance/action';
import type { DecisionPoint } from '../../governance/decision-point';
import { type ActorAction, requireAllowed } from '../../governance/require-allowed';
import type { Board, TaskChange } from '../types';
import { wrappedBoard } from './wrapped-board';

/** Thrown out of a change, under the lock: it completes the task, about which the rules have to be asked first. */
class Completes extends Error {
  constructor(readonly task: Task) {
    super(`The rules were not asked about the completion of ${task.id}.`);
  }
}

/**
 * The same board, on which every change asks the rules first: creating, updating, moving and deleting as the actor does it, and
 * completing a task in whatever way. Edits of a task's file ask nothing: the board belongs to its editors.
 *
 * @param asks `completion`: only about that, for a board on which runs write down what they do
 */
export function ruledBoard(board: Board, rules: DecisionPoint, { asks }: { asks: 'all' | 'completion' }): Board {
  /** Asks about an action before it, unless it is the service's own. */
  async function askBefore(
    action: GovernedAction,
    id: string,
    done: Pick<ActorAction, 'actor' | 'also'>,
  ): Promise<void> {
    if (asks === 'completion' || done.actor.startsWith('system:')) {
      return;
    }
    // The project matters to policies only: without any, the file is not read.
    const task = (await rules.hasPolicies()) ? (await board.get(id))?.task : undefined;
    await requireAllowed(rules, {
      action,
      ...done,
      taskId: id,
      project: task?.project,
      change: `${id}@${task?.revision ?? 0}`,
    });
  }

  /** Makes a change, and asks about the completion of the task once it turns out to be one. */
  async function changed(change: TaskChange, actor: string, apply: (guarded: TaskChange) => Promise<Task>) {
    const guarded = (current: Task, location: TaskLocation): Partial<Task> => {
      const fields = change(current, location);
      if (fields.status === 'done' && current.status !== 'done') {
        throw new Completes({ ...current, ...fields, revision: current.revision });
      }
      return fields;
    };
    try {
      return await apply(guarded);
    } catch (error) {
      if (!(error instanceof Completes)) {
        throw error;
      }
      const { id, project, title, revision } = error.task;
      await requireAllowed(rules, {
        action: 'complete-task',
        actor,
        taskId: id,
        project,
        subject: { title },
        change: `${id}@${revision}/done`,
      });
      return apply(change);
    }
  }

  return wrappedBoard(board, {
    async create(input, options) {
      if (asks === 'all') {
        const { project, status, title } = input;
        const also = status === 'done' ? ['complete-task'] : [];
        await requireAllowed(rules, {
          action: 'create-task',
          actor: options.actor,
          project,
          also,
          subject: { ...input },
          change: title,
        });
      }
      return board.create(input, options);
    },
    async update(id, change, writer) {
      await askBefore('update-task', id, writer);
      return changed(change, writer.actor, (guarded) => board.update(id, guarded, writer));
    },
    async move(id, change, mover) {
      await askBefore('update-task', id, { actor: mover.actor, also: [`${mover.operation}-task`] });
      return changed(change, mover.actor, (guarded) => board.move(id, guarded, mover));
    },
    async remove(id, remover) {
      await askBefore('delete-task', id, remover);
      await board.remove(id, remover);
    },
  });
}

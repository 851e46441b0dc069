import { createHash } from 'node:crypto';
import { basename } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { SearchCollection } from '../../../contracts/knowledge/search';
import { type Task, type TaskLocation, taskLocation } from '../../../contracts/tasks/task';
import { AppError } from '../../../platform/errors/app-error';
import type { Board } from '../../../stores/board-files/types';
import { listAllTasks } from '../../tasks/tasks/list-all-tasks';
import { cleanText, indexFormat, type SearchSource } from './source';

const prefix = 'task:';
/** Tasks whose versions are computed before others have their turn. */
const maxInTurn = 200;

const collectionOf = (location: TaskLocation): SearchCollection => `tasks-${location}`;

/** Everything of a task that people write, one part a line. */
const partsOf = (task: Task): string[] =>
  [
    task.description,
    task.plan,
    task.subtasks.flatMap(({ title, acceptanceCriteria = [] }) => [title, ...acceptanceCriteria]),
    task.comments?.map(({ text }) => text),
    task.observations?.map(({ content }) => content),
    task.deliverables?.flatMap(({ title, description }) => [title, description]),
    task.lessonsLearned,
    task.lessonTags,
    task.blockedReason?.note,
    task.attempt?.summary,
    [task.project, task.sprint, task.type, task.assignee, task.agent, task.id],
  ]
    .flat()
    .filter((part): part is string => part !== undefined && part !== '');

function versionOf(task: Task, location: TaskLocation): string {
  const parts = JSON.stringify([location, task.title, ...partsOf(task)]);
  return `${indexFormat}:${createHash('sha256').update(parts).digest('base64url').slice(0, 22)}`;
}

/** The id by which searches know a task. */
export const entryOfTask = (taskId: string): string => prefix + taskId;

/** The tasks of a board; deleted ones are none. */
export const createTaskSource = (board: Pick<Board, 'get' | 'list'>): SearchSource => ({
  prefix,
  collections: taskLocation.options.map(collectionOf),

  async *list() {
    let count = 0;
    for (const { task, location } of listAllTasks(board)) {
      if (task.deletedAt === undefined) {
        yield { id: entryOfTask(task.id), collection: collectionOf(location), version: versionOf(task, location) };
      }
      count += 1;
      if (count % maxInTurn === 0) {
        await nextTurn();
      }
    }
  },

  async load(id) {
    const found = await board.get(id.slice(prefix.length)).catch((error: unknown) => {
      // A file that cannot be read is no task until a person repairs it.
      if (error instanceof AppError && error.status === 409) {
        return undefined;
      }
      throw error;
    });
    if (!found) {
      return undefined;
    }
    const { task, location, path } = found;
    const title = cleanText(task.title);
    return {
      id,
      ref: task.id,
      collection: collectionOf(location),
      version: versionOf(task, location),
      title,
      heading: title,
      path: `${location}/${basename(path)}`,
      text: cleanText(partsOf(task).join('\n')),
    };
  },
});

import type { Task, TaskAttempt } from '../../../contracts/tasks/task';
import type { ApiUnderTest, CallOptions, Reply } from '../api-under-test';

/** The tasks of a test: created, read and put into states that only runs bring about. */
export interface BoardTasks {
  create: (fields?: Record<string, unknown>, path?: string) => Promise<Task>;
  get: (id: string) => Promise<Task>;
  post: (path: string, body?: unknown, options?: CallOptions) => Promise<Reply>;
  /** Ids of a list, in its order. */
  ids: (path: string) => Promise<string[]>;
  /** Shows on the task what the run of an agent would. */
  attempt: (id: string, status: TaskAttempt['status']) => Promise<void>;
}

export function boardTasks(board: () => ApiUnderTest): BoardTasks {
  return {
    create: async (fields = {}, path = '/api/tasks') => {
      const { status, body } = await board().call('POST', path, { body: { title: 'A task', ...fields } });
      if (status !== 201) {
        throw new Error(JSON.stringify(body));
      }
      return body as Task;
    },
    get: async (id) => (await board().call('GET', `/api/tasks/${id}`)).body as Task,
    post: (path, body, options) => board().call('POST', path, { body, ...options }),
    ids: async (path) => ((await board().call('GET', path)).body.tasks as Task[]).map(({ id }) => id),
    attempt: async (id, status) => {
      const attempt = { id: 'attempt_abcdefgh', agent: 'example', status };
      await board().api.context.board.update(id, () => ({ attempt }), { actor: 'agent:example' });
    },
  };
}

export const missingTask = 'task_20260101_nobody';

import { z } from 'zod';
import { unwrap } from '../../clients/typescript/src';
import type { components } from '../../clients/typescript/src/types';
import { idempotencyKey as launchKey } from '../../contracts/runs/launch/launch';
import { commentCreate } from '../../contracts/tasks/comment';
import { taskCreate, taskPatch, taskPriority, taskStatus } from '../../contracts/tasks/task';
import { annotations, type BoardTool, defineTool, ofTask } from '../tool';

type Task = components['schemas']['Task'];

/** How many comments of a task are shown, the latest. */
const shownComments = 20;

/** A task as a row of a list. */
export const taskRow = ({ id, title, status, priority, project, assignee, agent, attempt }: Task) => ({
  ...{ id, title, status, priority, project, assignee, agent },
  run: attempt && { attemptId: attempt.id, status: attempt.result ?? attempt.status },
});

const taskOf = ({ comments = [], ...task }: Task) => ({
  ...taskRow(task),
  revision: task.revision,
  description: task.description,
  repo: task.git?.repo,
  subtasks: task.subtasks.map(({ id, title, completed }) => ({ id, title, completed })),
  comments: comments.slice(-shownComments).map(({ author, text, timestamp }) => ({ author, text, timestamp })),
  earlierComments: Math.max(0, comments.length - shownComments) || undefined,
});

/** What may be written of a task by these tools. */
const writableFields = { project: true, agent: true, description: true, priority: true, type: true } as const;
/** The header that it is sent in takes 200 characters. */
const idempotencyKey = launchKey
  .max(200)
  .optional()
  .describe('Under the same key the same is made once, however often it is called.');

const keyed = (key: string | undefined) => (key === undefined ? {} : { header: { 'Idempotency-Key': key } });

export const taskTools: BoardTool[] = [
  defineTool({
    name: 'list_tasks',
    title: 'List tasks',
    description: 'Lists tasks of the board, most recently changed first. Filter rather than read all of them.',
    annotations: annotations.reads,
    input: z.strictObject({
      status: z.array(taskStatus).min(1).optional(),
      priority: z.array(taskPriority).min(1).optional(),
      project: z.string().max(200).optional(),
      assignee: z.string().max(200).optional(),
      agent: z.string().max(64).optional(),
      text: z.string().max(200).optional().describe('A text that the task has.'),
      page: z.number().int().min(1).max(100_000).default(1),
      limit: z.number().int().min(1).max(50).default(20),
    }),
    call: async ({ board, signal }, { status, priority, text, ...query }) => {
      const filter = { status: status?.join(), priority: priority?.join(), q: text, ...query };
      const { tasks, pagination } = await unwrap(board.GET('/api/tasks', { params: { query: filter }, signal }));
      return { tasks: tasks.map(taskRow), page: query.page, total: pagination?.total };
    },
  }),
  defineTool({
    name: 'get_task',
    title: 'Read a task',
    description:
      'Reads a task: description, subtasks, latest comments, its last run, and the revision that a change names.',
    annotations: annotations.reads,
    input: z.strictObject(ofTask),
    call: async ({ board, signal }, path) =>
      taskOf(await unwrap(board.GET('/api/tasks/{taskId}', { params: { path }, signal }))),
  }),
  defineTool({
    name: 'get_task_context',
    title: 'Read the context of a task',
    description: 'Reads what one needs before beginning a task: attachments, dependencies and what others observed.',
    annotations: annotations.reads,
    input: z.strictObject(ofTask),
    call: ({ board, signal }, path) => unwrap(board.GET('/api/tasks/{taskId}/context', { params: { path }, signal })),
  }),
  defineTool({
    name: 'create_task',
    title: 'Create a task',
    description: 'Creates a task with the status todo.',
    annotations: annotations.adds,
    input: taskCreate.pick({ title: true, ...writableFields }).extend({
      repo: z.string().max(64).optional().describe('Configured repository that it changes.'),
      idempotencyKey,
    }),
    call: async ({ board, signal }, { repo, idempotencyKey: key, ...fields }) => {
      const body = { ...fields, ...(repo === undefined ? {} : { git: { repo } }) };
      return taskOf(await unwrap(board.POST('/api/tasks', { body, params: keyed(key), signal })));
    },
  }),
  defineTool({
    name: 'update_task',
    title: 'Change a task',
    description: 'Changes fields of a task, its status among them, if it still has the revision that was read.',
    annotations: annotations.changes,
    input: taskPatch
      .pick({ title: true, status: true, assignee: true, ...writableFields })
      .extend({ ...ofTask, expectedRevision: z.number().int().min(1).describe('As get_task returned it.') }),
    call: async ({ board, signal }, { taskId: id, ...body }) =>
      taskOf(await unwrap(board.PATCH('/api/tasks/{taskId}', { params: { path: { taskId: id } }, body, signal }))),
  }),
  defineTool({
    name: 'add_comment',
    title: 'Comment on a task',
    description: 'Adds a comment to a task, for people and other agents.',
    annotations: annotations.adds,
    input: commentCreate.pick({ text: true }).extend({ ...ofTask, idempotencyKey }),
    call: async ({ board, signal }, { taskId: id, text, idempotencyKey: key }) => {
      const path = { taskId: id };
      const options = { params: { path, ...keyed(key) }, body: { text }, signal };
      const { comments = [] } = await unwrap(board.POST('/api/tasks/{taskId}/comments', options));
      return { taskId: id, comments: comments.length };
    },
  }),
];

import { InvalidArgumentError } from 'commander';
import { unwrap } from '../../clients/typescript/src';
import type { components, operations } from '../../clients/typescript/src/types';
import { UsageError } from '../failures';
import { oneLine, plain } from '../output/plain';
import { stateStyle } from '../output/style';
import { table } from '../output/table';
import type { Session } from '../session';
import { type AddCommands, count, noteMore } from './command';

type Task = components['schemas']['Task'];
type ListQuery = NonNullable<operations['listTasks']['parameters']['query']>;

const statuses = ['todo', 'in-progress', 'blocked', 'done'] as const;
const priorities = ['low', 'medium', 'high', 'critical'] as const;

const oneOf =
  <T extends string>(allowed: readonly T[]) =>
  (value: string): T => {
    const found = allowed.find((each) => each === value);
    if (found === undefined) {
      throw new InvalidArgumentError(`It must be one of ${allowed.join(', ')}.`);
    }
    return found;
  };

interface Fields {
  description?: string;
  priority?: (typeof priorities)[number];
  project?: string;
  type?: string;
  agent?: string;
  repo?: string;
}

/** Fields of a task from options of the command line. */
const toFields = ({ repo, ...fields }: Fields) => ({ ...fields, ...(repo === undefined ? {} : { git: { repo } }) });

/** One task, read again before it is changed: a change is of exactly what was read. */
export const readTask = (session: Session, taskId: string): Promise<Task> =>
  unwrap(session.board.GET('/api/tasks/{taskId}', { params: { path: { taskId } }, signal: session.signal }));

async function changeTask(session: Session, taskId: string, fields: components['schemas']['TaskPatch']): Promise<Task> {
  const { revision } = await readTask(session, taskId);
  return unwrap(
    session.board.PATCH('/api/tasks/{taskId}', {
      params: { path: { taskId } },
      body: { ...fields, expectedRevision: revision },
      signal: session.signal,
    }),
  );
}

const changed = (session: Session, task: Task): void =>
  session.print(task, () => `${task.id}  ${stateStyle(session.style, task.status)}  ${oneLine(task.title, 80)}\n`);

function shown(session: Session, task: Task): string {
  const { style } = session;
  const { id, title, status, priority, project, agent, git, attempt, description, subtasks, comments } = task;
  const lines = [
    style('bold', oneLine(title, 200)),
    `${id}  ${stateStyle(style, status)}  ${priority}`,
    ...(project === undefined ? [] : [`project  ${oneLine(project, 80)}`]),
    ...(agent === undefined ? [] : [`agent    ${oneLine(agent, 80)}`]),
    ...(git?.repo === undefined ? [] : [`repo     ${oneLine(git.repo, 80)}`]),
    ...(attempt === undefined
      ? []
      : [`run      ${attempt.id}  ${stateStyle(style, attempt.result ?? attempt.status)}  by ${attempt.agent}`]),
    ...(attempt?.cause === undefined ? [] : [`cause    ${oneLine(attempt.cause, 200)}`]),
    ...(description === '' ? [] : ['', plain(description).trimEnd()]),
    ...(subtasks.length === 0 ? [] : ['']),
    ...subtasks.map((subtask) => `[${subtask.completed ? 'x' : ' '}] ${oneLine(subtask.title, 120)}`),
    ...(comments ?? []).flatMap(({ author, text }) => ['', style('dim', oneLine(author, 80)), plain(text).trimEnd()]),
  ];
  return `${lines.join('\n')}\n`;
}

/** `runboard task`: list, show, new, edit, move and done. */
export const addTaskCommands: AddCommands = (program, run) => {
  const task = program.command('task').description('Tasks of the board');

  task
    .command('list')
    .description('List tasks, most recently changed first')
    .option('--status <status>', `only of a status: ${statuses.join(', ')}`)
    .option('--project <project>', 'only of a project')
    .option('--assignee <name>', 'only of an assignee')
    .option('--agent <agent>', 'only of an agent')
    .option('-q, --query <text>', 'only with a text')
    .option('--limit <number>', 'at most so many', count, 50)
    .action(
      run(async (session, query: ListQuery & { query?: string }) => {
        const { status, project, assignee, agent, limit, query: q } = query;
        const filter = Object.fromEntries(
          Object.entries({ status, project, assignee, agent, limit, q }).filter(([, value]) => value !== undefined),
        ) as ListQuery;
        const list = await unwrap(
          session.board.GET('/api/tasks', { params: { query: filter }, signal: session.signal }),
        );
        const rows = list.tasks.map((each) => [each.id, each.status, each.priority, each.project, each.title]);
        session.print(list, () => table(['ID', 'STATUS', 'PRIORITY', 'PROJECT', 'TITLE'], rows));
        if (list.nextCursor !== undefined) {
          noteMore(session);
        }
        return undefined;
      }),
    );

  task
    .command('show')
    .description('Show a task with its subtasks, comments and last run')
    .argument('<task>', 'id of the task')
    .action(
      run(async (session, taskId: string) => {
        const found = await readTask(session, taskId);
        session.print(found, () => shown(session, found));
        return undefined;
      }),
    );

  task
    .command('new')
    .description('Create a task')
    .argument('<title>', 'what is to be done')
    .option('-d, --description <markdown>', 'what an agent needs to know')
    .option('--priority <priority>', priorities.join(', '), oneOf(priorities))
    .option('--project <project>', 'project of the task')
    .option('--type <type>', 'type of the task')
    .option('--agent <agent>', 'agent that is to do it')
    .option('--repo <name>', 'configured repository that it changes')
    .action(
      run(async (session, title: string, fields: Fields) => {
        const body = { title, ...toFields(fields) };
        changed(session, await unwrap(session.board.POST('/api/tasks', { body, signal: session.signal })));
        return undefined;
      }),
    );

  task
    .command('edit')
    .description('Change fields of a task')
    .argument('<task>', 'id of the task')
    .option('--title <title>', 'what is to be done')
    .option('-d, --description <markdown>', 'what an agent needs to know')
    .option('--priority <priority>', priorities.join(', '), oneOf(priorities))
    .option('--project <project>', 'project of the task')
    .option('--type <type>', 'type of the task')
    .option('--agent <agent>', 'agent that is to do it')
    .option('--repo <name>', 'configured repository that it changes')
    .action(
      run(async (session, taskId: string, fields: Fields & { title?: string }) => {
        if (Object.keys(fields).length === 0) {
          throw new UsageError('Name what is to be changed: add --help for what there is.');
        }
        changed(session, await changeTask(session, taskId, toFields(fields)));
        return undefined;
      }),
    );

  task
    .command('move')
    .description('Move a task to another status')
    .argument('<task>', 'id of the task')
    .argument('<status>', statuses.join(', '), oneOf(statuses))
    .action(
      run(async (session, taskId: string, status: (typeof statuses)[number]) => {
        changed(session, await changeTask(session, taskId, { status }));
        return undefined;
      }),
    );

  task
    .command('done')
    .description('Complete a task')
    .argument('<task>', 'id of the task')
    .action(
      run(async (session, taskId: string) => {
        changed(session, await changeTask(session, taskId, { status: 'done' }));
        return undefined;
      }),
    );
};

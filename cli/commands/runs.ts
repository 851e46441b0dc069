import { unwrap } from '../../clients/typescript/src';
import type { components } from '../../clients/typescript/src/types';
import { exitCodes, UsageError } from '../failures';
import { oneLine, plain } from '../output/plain';
import { stateStyle } from '../output/style';
import type { Session } from '../session';
import { type AddCommands, count } from './command';
import { eventText, followEvents, isEnd, type RunPath } from './run-events';

type RunStatus = components['schemas']['RunStatus'];
type Launch = components['schemas']['LaunchAnswer'];

const status = ({ board, signal }: Session, taskId: string): Promise<RunStatus> =>
  unwrap(board.GET('/api/agents/{taskId}/status', { params: { path: { taskId } }, signal }));

/** The attempt that a command is about: the one that is named, or the last of the task. */
export async function attemptOf(session: Session, taskId: string, attempt: string | undefined): Promise<RunPath> {
  const attemptId = attempt ?? (await status(session, taskId)).attemptId;
  if (attemptId === null) {
    throw new UsageError(`${taskId} has no run yet: start one with "runboard run start ${taskId}".`);
  }
  return { taskId, attemptId };
}

/** Prints the events of an attempt until it ends. @returns the exit code */
async function watch(session: Session, path: RunPath): Promise<number> {
  for await (const event of followEvents(session, path)) {
    session.print(event, () => eventText(event, session.style));
    if (isEnd(event)) {
      break;
    }
  }
  const { attempt, failure } = await status(session, path.taskId);
  if (attempt?.id !== path.attemptId) {
    session.note(`A later attempt has begun: runboard run watch ${path.taskId}`);
  } else if (failure) {
    session.note(`${oneLine(failure.cause, 200)}\nIts log: runboard run logs ${path.taskId}`);
  }
  const ended = await unwrap(
    session.board.GET('/api/agents/{taskId}/attempts/{attemptId}', { params: { path }, signal: session.signal }),
  );
  return ended.completion?.status === 'success' ? exitCodes.done : exitCodes.unsuccessful;
}

const launched = (session: Session, launch: Launch): void =>
  session.print(launch, () =>
    launch.status === 'queued'
      ? `${launch.attemptId}  ${stateStyle(session.style, 'queued')}  waits for ${launch.limitingScopes.length === 0 ? 'its turn' : 'capacity'}\n`
      : `${launch.attemptId}  ${stateStyle(session.style, 'running')}  ${launch.agent}\n`,
  );

function statusText(session: Session, { taskId, attemptId, agent, state, attempt, failure }: RunStatus): string {
  if (attemptId === null) {
    return `${taskId} has no run yet.\n`;
  }
  const result = attempt?.completion?.status;
  const shown = result === undefined ? (state ?? 'unknown') : result;
  const lines = [`${attemptId}  ${stateStyle(session.style, shown)}  ${agent ?? ''}`];
  const summary = attempt?.completion?.summary;
  return `${[...lines, ...(summary ? [plain(summary)] : []), ...(failure ? [oneLine(failure.cause, 200)] : [])].join('\n')}\n`;
}

/** `runboard run`: start, status, watch, logs, stop and steer. */
export const addRunCommands: AddCommands = (program, run) => {
  const group = program.commands.find((each) => each.name() === 'run') ?? program.command('run');
  group.description('Runs of agents on tasks');

  group
    .command('start')
    .description('Start a run of an agent on a task, or queue it')
    .argument('<task>', 'id of the task')
    .option('--agent <agent>', 'agent that is to run')
    .option('--model <model>', 'model that the agent is to use')
    .option('--idempotency-key <key>', 'the same key is the same run, however often it is started')
    .option('-w, --watch', 'print its events until it ends')
    .action(
      run(
        async (
          session,
          taskId: string,
          { watch: watches, ...fields }: { agent?: string; model?: string; idempotencyKey?: string; watch?: boolean },
        ) => {
          const launch = await unwrap(
            session.board.POST('/api/agents/{taskId}/start', {
              params: { path: { taskId } },
              body: fields,
              signal: session.signal,
            }),
          );
          launched(session, launch);
          return watches ? watch(session, { taskId, attemptId: launch.attemptId }) : undefined;
        },
      ),
    );

  group
    .command('status')
    .description('Show the last run of a task')
    .argument('<task>', 'id of the task')
    .action(
      run(async (session, taskId: string) => {
        const found = await status(session, taskId);
        session.print(found, () => statusText(session, found));
        return undefined;
      }),
    );

  group
    .command('watch')
    .description('Print the events of a run until it ends; exits with 10 when it ends without success')
    .argument('<task>', 'id of the task')
    .argument('[attempt]', 'id of the attempt, the last one by default')
    .action(
      run(async (session, taskId: string, attempt: string | undefined) =>
        watch(session, await attemptOf(session, taskId, attempt)),
      ),
    );

  group
    .command('logs')
    .description('Print the log of a run as markdown')
    .argument('<task>', 'id of the task')
    .argument('[attempt]', 'id of the attempt, the last one by default')
    .option('--last <events>', 'the last so many events', count, 100)
    .action(
      run(async (session, taskId: string, attempt: string | undefined, { last }: { last: number }) => {
        const path = await attemptOf(session, taskId, attempt);
        const log = await unwrap(
          session.board.GET('/api/agents/{taskId}/attempts/{attemptId}/log', {
            params: { path, query: { last } },
            parseAs: 'text',
            signal: session.signal,
          }),
        );
        session.print({ ...path, log }, () => `${plain(log).trimEnd()}\n`);
        return undefined;
      }),
    );

  group
    .command('stop')
    .description('Stop a run, and wait for its end')
    .argument('<task>', 'id of the task')
    .argument('[attempt]', 'id of the attempt, the last one by default')
    .action(
      run(async (session, taskId: string, attempt: string | undefined) => {
        const { attemptId } = await attemptOf(session, taskId, attempt);
        const stopped = await unwrap(
          session.board.POST('/api/agents/{taskId}/stop', {
            params: { path: { taskId } },
            body: { attemptId },
            signal: session.signal,
          }),
        );
        session.print(stopped, () => `${attemptId}  ${stateStyle(session.style, stopped.status)}\n`);
        return undefined;
      }),
    );

  group
    .command('steer')
    .description('Steer a running agent with a message that it reads immediately')
    .argument('<task>', 'id of the task')
    .argument('<message>', 'what the agent is to consider')
    .option('--attempt <attempt>', 'id of the attempt, the last one by default')
    .action(
      run(async (session, taskId: string, message: string, { attempt }: { attempt?: string }) => {
        const { attemptId } = await attemptOf(session, taskId, attempt);
        const sent = await unwrap(
          session.board.POST('/api/agents/{taskId}/conversation/steer', {
            params: { path: { taskId } },
            body: { attemptId, message },
            signal: session.signal,
          }),
        );
        session.print(sent, () => `${sent.delivered ? 'Delivered' : `Not delivered: ${sent.reason ?? 'unknown'}`}\n`);
        return sent.delivered ? undefined : exitCodes.conflict;
      }),
    );
};

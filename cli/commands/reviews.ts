import { unwrap } from '../../clients/typescript/src';
import { type PatchLine, patchLines } from '../../clients/typescript/src/diff';
import type { components } from '../../clients/typescript/src/types';
import { plain } from '../output/plain';
import { type Colour, stateStyle, type Style } from '../output/style';
import type { AddCommands } from './command';
import { attemptOf } from './runs';

type FileDiff = components['schemas']['FileDiff'];

const colours: Record<PatchLine['type'], Colour | undefined> = {
  hunk: 'cyan',
  add: 'green',
  delete: 'red',
  context: undefined,
};

/** A file of a diff in the form of `diff -u`. */
function fileText(file: FileDiff, style: Style): string {
  const { path, oldPath, status, binary, cut } = file;
  const names = [`--- ${plain(oldPath ?? path)}`, `+++ ${plain(path)}`].map((line) => style('bold', line));
  const lines = patchLines(file).map(({ type, text }) => {
    const colour = colours[type];
    return colour === undefined ? plain(text) : style(colour, plain(text));
  });
  const notes = [...(binary ? [`(${status}, binary)`] : []), ...(cut === undefined ? [] : [`(cut: ${cut})`])];
  return `${[...names, ...notes, ...lines].join('\n')}\n`;
}

/** `runboard run`: diff, accept and send-back. */
export const addReviewCommands: AddCommands = (program, run) => {
  const group = program.commands.find((each) => each.name() === 'run') ?? program.command('run');

  group
    .command('diff')
    .description('Show what the worktree of a task changes')
    .argument('<task>', 'id of the task')
    .option('--from <revision>', 'state to compare from')
    .option('--to <revision>', 'state to compare to')
    .action(
      run(async (session, taskId: string, query: { from?: string; to?: string }) => {
        for (let cursor: string | undefined; ;) {
          const page = await unwrap(
            session.board.GET('/api/diff/{taskId}/full', {
              params: { path: { taskId }, query: { ...query, ...(cursor === undefined ? {} : { cursor }) } },
              signal: session.signal,
            }),
          );
          session.print(page, () => page.files.map((file) => fileText(file, session.style)).join(''));
          cursor = page.nextCursor;
          if (cursor === undefined) {
            session.note(`${page.totalFiles} files, +${page.totalAdditions} -${page.totalDeletions}`);
            return undefined;
          }
        }
      }),
    );

  group
    .command('accept')
    .description('Accept the result of a run: merge it, or make its pull request')
    .argument('<task>', 'id of the task')
    .option('--attempt <attempt>', 'id of the attempt, the last one by default')
    .option('--pull-request', 'make a pull request instead of merging')
    .option('-m, --summary <text>', 'what was decided')
    .action(
      run(
        async (
          session,
          taskId: string,
          { attempt, pullRequest, summary }: { attempt?: string; pullRequest?: boolean; summary?: string },
        ) => {
          const { attemptId } = await attemptOf(session, taskId, attempt);
          const review = await unwrap(
            session.board.POST('/api/tasks/{taskId}/review/accept', {
              params: { path: { taskId } },
              body: {
                attemptId,
                ...(pullRequest === true ? { delivery: 'pull-request' as const } : {}),
                ...(summary === undefined ? {} : { summary }),
              },
              signal: session.signal,
            }),
          );
          session.print(review, () => `${taskId}  ${stateStyle(session.style, review.review?.state ?? 'unknown')}\n`);
          return undefined;
        },
      ),
    );

  group
    .command('send-back')
    .description('Send the result of a run back to its agent, with a message and the open comments on lines')
    .argument('<task>', 'id of the task')
    .option('--attempt <attempt>', 'id of the attempt, the last one by default')
    .option('-m, --message <text>', 'what is to be changed')
    .action(
      run(async (session, taskId: string, { attempt, message }: { attempt?: string; message?: string }) => {
        const { attemptId } = await attemptOf(session, taskId, attempt);
        const sent = await unwrap(
          session.board.POST('/api/tasks/{taskId}/review/send-back', {
            params: { path: { taskId } },
            body: { attemptId, ...(message === undefined ? {} : { message }) },
            signal: session.signal,
          }),
        );
        session.print(sent, () => `${taskId}  ${stateStyle(session.style, 'sent-back')}\n`);
        return undefined;
      }),
    );
};

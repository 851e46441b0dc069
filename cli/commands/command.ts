import { type Command, InvalidArgumentError } from 'commander';
import { type Body, type Result, unwrap } from '../../clients/typescript/src';
import { type GlobalOptions, openSession, type Session, type Surroundings } from '../session';

/** Adds commands to the program. */
export type AddCommands = (program: Command, run: Runner) => void;

/** What a command does, once its session is open. @returns its exit code, when that is not 0 */
export type Action<A extends unknown[]> = (session: Session, ...args: A) => Promise<number | undefined>;

/** Makes the action of a command from what it does. */
export type Runner = <A extends unknown[]>(action: Action<A>) => (...args: [...A, Command]) => Promise<void>;

export function runnerFor(surroundings: Surroundings, finished: (session: Session, code: number) => void): Runner {
  return (action) =>
    async (...given) => {
      const args = given as unknown[];
      const command = args.at(-1) as Command;
      const session = await openSession(surroundings, command.optsWithGlobals<GlobalOptions>());
      finished(session, 0);
      const code = await action(session, ...(args.slice(0, -1) as never));
      finished(session, code ?? 0);
    };
}

/** How many of a list, as an option states it. */
export function count(text: string): number {
  if (!/^[1-9]\d{0,8}$/.test(text)) {
    throw new InvalidArgumentError('It must be a whole number, at least 1.');
  }
  return Number(text);
}

/** Reports that a list has more than was asked for. */
export const noteMore = (session: Session): void => session.note('There are more: raise --limit, or filter.');

/** The first page of a list, and whether there are more. @throws BoardError when the board refuses it */
export async function firstPage<R extends Result>(request: Promise<R>): Promise<{ list: Body<R>; hasMore: boolean }> {
  const result = await request;
  return { list: await unwrap(Promise.resolve(result)), hasMore: result.response.headers.has('X-Next-Cursor') };
}

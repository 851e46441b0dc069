import type { Command } from 'commander';
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

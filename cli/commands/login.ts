import { rm } from 'node:fs/promises';
import { createBoardClient, unwrap } from '../../clients/typescript/src';
import { readSecret } from '../read-secret';
import type { Surroundings } from '../session';
import { checkedKey, settingsFile, storeSettings } from '../settings';
import type { AddCommands } from './command';

/** `runboard login` and `runboard logout`. */
export const loginCommands =
  (surroundings: Surroundings): AddCommands =>
  (program, run) => {
    program
      .command('login')
      .description('Store the address of a board and a key of it, which is read from the terminal or a pipe')
      .action(
        run(async (session) => {
          const { url, signal } = session;
          const key = checkedKey(await readSecret(surroundings, `Key for ${url}: `), 'What was given');
          // Stored only once the board has accepted it.
          const board = createBoardClient({ url, key });
          await unwrap(board.GET('/api/tasks', { params: { query: { limit: 1 } }, signal }));
          const file = await storeSettings(surroundings.environment, { url, key });
          session.print({ url, file }, () => `Signed in at ${url}; the key is in ${file}.\n`);
          return undefined;
        }),
      );

    program
      .command('logout')
      .description('Remove the stored key')
      .action(
        run(async (session) => {
          const file = settingsFile(surroundings.environment);
          await rm(file, { force: true });
          session.print({ file }, () => 'Signed out.\n');
          return undefined;
        }),
      );
  };

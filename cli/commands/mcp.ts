import type * as Stdio from '../../mcp/stdio';
import type { Surroundings } from '../session';
import type { AddCommands } from './command';

/** Loads the server when it is used: every other command starts without it, in half the time. */
// eslint-disable-next-line @typescript-eslint/no-require-imports -- `import()` has no name that sources and compiled code share
const load = (): typeof Stdio => require('../../mcp/stdio') as typeof Stdio;

/** `runboard mcp`: the board as tools of a model, over standard input and output. */
export const mcpCommand =
  ({ input, output }: Surroundings): AddCommands =>
  (program, run) => {
    program
      .command('mcp')
      .description('Serve the board to a client of the Model Context Protocol, over standard input and output')
      .option('--read-only', 'offer only tools that change nothing')
      .action(
        run(async ({ board, signal }, { readOnly = false }: { readOnly?: boolean }) => {
          await load().serveOverStdio({ board, readOnly, input, output, signal });
          return undefined;
        }),
      );
  };

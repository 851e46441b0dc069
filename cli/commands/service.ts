import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Command } from 'commander';
import { exitCodes, UsageError } from '../failures';

/** The root of the package, from where this file is as a source or compiled. */
const root = (): string =>
  [join(__dirname, '..', '..'), join(__dirname, '..', '..', '..')].find(
    (path) =>
      // The build copies package.json beside what it compiles, so that is in both.
      existsSync(join(path, 'dist', 'scripts')) || existsSync(join(path, 'scripts', 'ensure-built.mjs')),
  ) ?? process.cwd();

/** Builds what is stale where the sources are, then runs a script in this terminal until it ends. */
function runScript(script: string, args: string[]): Promise<number> {
  const build = join(root(), 'scripts', 'ensure-built.mjs');
  const compiled = join(root(), 'dist', 'scripts', script);
  const steps = [...(existsSync(build) ? [[build]] : []), ['--enable-source-maps', compiled, ...args]];
  return steps.reduce<Promise<number>>(async (before, step) => {
    const code = await before;
    return code === 0 ? runNode(step) : code;
  }, Promise.resolve(0));
}

function runNode(args: string[]): Promise<number> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, args, { stdio: 'inherit' });
    // The terminal interrupts the child as well, which then ends in order.
    const ignore = (): void => undefined;
    process.on('SIGINT', ignore);
    const forward = (): void => void child.kill('SIGTERM');
    process.on('SIGTERM', forward);
    child.once('error', () => reject(new UsageError(`${args[0] ?? 'node'} could not be started.`)));
    child.once('exit', (code, signal) => {
      process.off('SIGINT', ignore);
      process.off('SIGTERM', forward);
      resolve(code ?? (signal === 'SIGINT' ? exitCodes.interrupted : exitCodes.refused));
    });
  });
}

/** `runboard start` and `runboard demo`, which run a board of their own, and what reads and makes data directories. */
export function addServiceCommands(program: Command, finished: (code: number) => void): void {
  program
    .command('start')
    .description('Start a board on this machine: API, worker and Temporal, until it is interrupted')
    .action(async () => finished(await runScript('start.js', [])));

  program
    .command('demo')
    .description('Run an agent on a board that is made for it, and kill its worker in the middle')
    .option('--keep', 'leave it running')
    .action(async ({ keep }: { keep?: boolean }) =>
      finished(await runScript(join('demo', 'main.js'), keep === true ? ['--keep'] : [])),
    );

  const json = (): string[] => (program.opts<{ json?: boolean }>().json === true ? ['--json'] : []);
  const backup = join('backup', 'main.js');
  program
    .command('backup <directory>')
    .description('Make a backup of a board of this machine, also while it runs')
    .option('--data-dir <directory>', 'its data directory (BOARD_DATA_DIR)')
    .option('--files-only', 'accept that stores or Temporal are elsewhere, and have backups of their own')
    .action(async (directory: string, { dataDir, filesOnly }: { dataDir?: string; filesOnly?: boolean }) => {
      const from = dataDir === undefined ? [] : ['--data-dir', dataDir];
      const only = filesOnly === true ? ['--files-only'] : [];
      finished(await runScript(backup, ['create', ...from, ...only, ...json(), '--', directory]));
    });

  program
    .command('restore <backup> <directory>')
    .description('Make a data directory of a backup; whatever exists is left as it is')
    .action(async (from: string, to: string) =>
      finished(await runScript(backup, ['restore', ...json(), '--', from, to])),
    );
}

import { execFile } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { devNull } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import type { components } from '../../clients/typescript/src/types';

const run = promisify(execFile);

/** Git without the user's own configuration getting in the way of a sample: hooks and signatures among them. */
export async function git(cwd: string, ...args: string[]): Promise<string> {
  const identity = ['-c', 'user.name=Runboard demo', '-c', 'user.email=demo@localhost'];
  const env = { ...process.env, GIT_CONFIG_GLOBAL: devNull, GIT_CONFIG_NOSYSTEM: '1' };
  const { stdout } = await run('git', [...identity, ...args], { cwd, env });
  return stdout.trim();
}

/** The task of the demo, in words the example agent understands. */
export const sampleTask = {
  title: 'Add the text helpers',
  description: [
    'The shop needs a few helpers. Add them with tests:',
    '',
    '- [ ] add slugify(text): for URLs',
    '- [ ] add titleCase(text): for headlines',
    '- [ ] add truncate(text, length): for previews',
    '- [ ] add area(width, height): width * height',
  ].join('\n'),
  priority: 'high',
  git: { repo: 'shop', baseBranch: 'main' },
  executionPolicy: { commitPolicy: 'required' },
} satisfies components['schemas']['TaskCreate'];

/** A repository with one commit on `main`. */
export async function createRepository(path: string): Promise<void> {
  await mkdir(path, { recursive: true });
  await git(path, 'init', '--quiet', '--initial-branch=main');
  await writeFile(join(path, 'README.md'), '# The shop\n');
  await writeFile(join(path, 'package.json'), `${JSON.stringify({ name: 'shop', type: 'module' }, null, 2)}\n`);
  await git(path, 'add', '.');
  await git(path, 'commit', '--quiet', '-m', 'Open the shop');
}

/** The example agent of this repository, slowed down so that there is something to see and to kill. */
export const exampleAgent = (stepDelayMs: number) => ({
  type: 'example',
  name: 'Example agent',
  provider: 'process' as const,
  command: process.execPath,
  args: [
    join(dirname(dirname(dirname(__dirname))), 'examples', 'agent', 'agent.mjs'),
    '--step-delay-ms',
    String(stepDelayMs),
  ],
});

import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { programOutput } from '../processes/program-output';

/** Git in a directory, without the machine's own configuration; returns its output. */
export async function git(cwd: string, ...args: string[]): Promise<string> {
  const env = { PATH: process.env.PATH, HOME: cwd, GIT_CONFIG_NOSYSTEM: '1' };
  const identity = ['-c', 'user.name=Test', '-c', 'user.email=test@localhost'];
  return (await programOutput({ file: 'git', args: [...identity, ...args], cwd, env })).trim();
}

/** A real repository with one commit on `main`; returns its path. */
export async function aRepository(parent: string, name = 'repo'): Promise<string> {
  const path = join(parent, name);
  await mkdir(path, { recursive: true });
  await git(path, 'init', '--quiet', '--initial-branch=main');
  await writeFile(join(path, 'README.md'), '# Sample\n');
  await git(path, 'add', '.');
  await git(path, 'commit', '--quiet', '-m', 'First');
  return path;
}

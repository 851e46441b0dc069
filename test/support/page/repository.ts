import { execFileSync } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** Makes a repository with one commit on `main`, which is not checked out: a branch that is is not merged into. */
export async function aRepository(dir: string): Promise<string> {
  const path = join(dir, 'shop');
  await mkdir(path);
  await writeFile(join(path, 'README.md'), '# Shop\n');
  const git = (...args: string[]) =>
    execFileSync('git', ['-c', 'user.name=T', '-c', 'user.email=t@localhost', ...args], { cwd: path });
  git('init', '--quiet', '--initial-branch=main');
  git('add', '-A');
  git('commit', '--quiet', '-m', 'Begin');
  git('switch', '--quiet', '--create', 'elsewhere');
  return path;
}

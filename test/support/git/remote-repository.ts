import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { aRepository, git } from './repository';

/** A repository whose `main` came from a bare remote named `origin`; another author pushes through a clone of their own. */
export interface RemoteRepository {
  path: string;
  remote: string;
  /** Commits a file on `main` and pushes it, as another author does; returns the commit. */
  othersPush(file: string, content?: string): Promise<string>;
}

export async function aRemoteRepository(parent: string, name = 'shop'): Promise<RemoteRepository> {
  const path = await aRepository(parent, name);
  const remote = join(parent, `${name}.git`);
  const others = join(parent, `${name}-others`);
  await mkdir(remote);
  await git(remote, 'init', '--quiet', '--bare', '--initial-branch=main');
  await git(path, 'remote', 'add', 'origin', remote);
  await git(path, 'push', '--quiet', 'origin', 'main');
  await git(parent, 'clone', '--quiet', remote, others);
  return {
    path,
    remote,
    async othersPush(file, content = `${file}\n`) {
      await git(others, 'pull', '--quiet', '--ff-only');
      await writeFile(join(others, file), content);
      await git(others, 'add', '.');
      await git(others, 'commit', '--quiet', '-m', `Others: ${file}`);
      await git(others, 'push', '--quiet', 'origin', 'main');
      return git(others, 'rev-parse', 'HEAD');
    },
  };
}

/** Commits a file in a worktree, as an agent does; returns the commit. */
export async function commitIn(worktree: string, file: string, content = `${file}\n`): Promise<string> {
  await writeFile(join(worktree, file), content);
  await git(worktree, 'add', '.');
  await git(worktree, 'commit', '--quiet', '-m', `Work: ${file}`);
  return git(worktree, 'rev-parse', 'HEAD');
}

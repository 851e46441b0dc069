import type { ConflictKind } from '../../../contracts/runs/conflict';
import { GitError } from '../git-error';
import { gitFields, type GitRunner } from '../run-git';

/** One version of a file in conflict: a stage of the index. */
export interface UnmergedVersion {
  mode: string;
  object: string;
}

/** A file in conflict, with the versions that the index has of it. */
export interface UnmergedFile {
  path: string;
  base?: UnmergedVersion;
  ours?: UnmergedVersion;
  theirs?: UnmergedVersion;
}

export const linkMode = '120000';
export const repositoryMode = '160000';

const stages = { 1: 'base', 2: 'ours', 3: 'theirs' } as const;

/** The files in conflict, sorted by path. Only reads, and only the index. */
export async function unmergedFiles(git: GitRunner, cwd: string): Promise<UnmergedFile[]> {
  const files = new Map<string, UnmergedFile>();
  for (const record of await gitFields(git, ['ls-files', '--unmerged', '-z'], { cwd })) {
    // `<mode> <object> <stage>\t<path>`
    const [, mode = '', object = '', stage, path = ''] = /^(\d{6}) ([0-9a-f]+) ([123])\t(.*)$/s.exec(record) ?? [];
    const side = stages[Number(stage) as keyof typeof stages];
    files.set(path, { ...(files.get(path) ?? { path }), [side]: { mode, object } });
  }
  return [...files.values()];
}

/** The file in conflict at a path. @throws GitError `unknown-path` */
export function unmergedAt(files: readonly UnmergedFile[], path: string): UnmergedFile {
  const file = files.find((one) => one.path === path);
  if (!file) {
    throw new GitError('unknown-path', `${JSON.stringify(path)} is not in conflict.`);
  }
  // Git's output is read as UTF-8: of another name there is no more than this.
  if (path.includes('\ufffd')) {
    throw new GitError('conflict', `${JSON.stringify(path)} has a name that is not UTF-8; resolve it with git add.`);
  }
  return file;
}

/** What git status calls it. */
export function kindOf({ base, ours, theirs }: UnmergedFile): ConflictKind {
  if (ours && theirs) {
    return base ? 'both-modified' : 'both-added';
  }
  if (ours) {
    return base ? 'deleted-by-them' : 'added-by-us';
  }
  if (theirs) {
    return base ? 'deleted-by-us' : 'added-by-them';
  }
  return 'both-deleted';
}

/** A file of the index that is not in conflict; `undefined` when there is none. */
export async function indexEntry(
  git: GitRunner,
  cwd: string,
  { path, env }: { path: string; env?: Record<string, string> },
): Promise<UnmergedVersion | undefined> {
  const literal = { ...env, GIT_LITERAL_PATHSPECS: '1' };
  const records = await gitFields(git, ['ls-files', '--stage', '-z', '--', path], { cwd, env: literal });
  const [, mode, object] =
    records.map((record) => /^(\d{6}) ([0-9a-f]+) 0\t(.*)$/s.exec(record)).find((entry) => entry?.[3] === path) ?? [];
  return mode === undefined || object === undefined ? undefined : { mode, object };
}

import { lstat, readFile, realpath } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { trackingRef } from './base';
import { recordedPath } from './contained';
import { assertBranchName, assertObjectName } from './names';
import { rebasedBranch, unfinishedOperation } from './operation-state';
import { type GitRunner, gitText } from './run-git';
import { readStatus, type WorktreeStatus } from './status';
import { hasHiddenFiles, resolveCommit, revealHiddenFiles, withIndexCopy } from './trees';
import type { InspectRequest, WorktreeEvidence } from './worktree-git';
import type { Worktree } from './worktree';
import { listWorktrees } from './worktree-list';
import { locateWorktree } from './worktree-location';

/** The administrative directory a worktree's `.git` leads to, when that belongs to the repository and leads back. */
export async function linkedGitDir(commonDir: string, path: string): Promise<string | undefined> {
  try {
    const link = await readFile(join(path, '.git'), 'utf8');
    const gitDir = await realpath(resolve(path, /^gitdir: (.+)\n?$/.exec(link)?.[1] ?? ''));
    const back = resolve(gitDir, (await readFile(join(gitDir, 'gitdir'), 'utf8')).trimEnd());
    const ours = dirname(gitDir) === join(await realpath(commonDir), 'worktrees');
    return ours && (await realpath(back)) === join(await realpath(path), '.git') ? gitDir : undefined;
  } catch {
    return undefined;
  }
}

/** Like `readStatus`, and without files hidden from it by marks in the index. */
export async function honestStatus(git: GitRunner, path: string): Promise<WorktreeStatus> {
  const [hidden, status] = await Promise.all([hasHiddenFiles(git, path), readStatus(git, path)]);
  if (!hidden) return status;
  return withIndexCopy(await locateWorktree(git, path), async (env) => {
    await revealHiddenFiles(git, path, env);
    return readStatus(git, path, env);
  });
}

async function countCommits(git: GitRunner, cwd: string, revisions: readonly string[]): Promise<number> {
  return Number(await gitText(git, ['rev-list', '--count', ...revisions], { cwd }));
}

/** The commit that commits of a worktree are compared with. */
export async function findBase(
  git: GitRunner,
  cwd: string,
  request: Pick<InspectRequest, 'remote' | 'baseBranch' | 'baseSha'>,
): Promise<WorktreeEvidence['base']> {
  const { remote, baseBranch, baseSha } = request;
  const ref = remote === undefined ? `refs/heads/${baseBranch}` : trackingRef(remote, baseBranch);
  const known = await resolveCommit(git, cwd, ref);
  if (known === undefined) return { sha: baseSha, source: 'recorded' };
  return { sha: known, source: remote === undefined ? 'local' : 'remote-tracking' };
}

type Comparison = Pick<WorktreeEvidence, 'ahead' | 'behind' | 'unpushed' | 'unmerged'>;

/** Compares commits; `tips` are HEAD and where the branch is. */
async function compare(
  git: GitRunner,
  cwd: string,
  tips: readonly string[],
  { base, remote }: { base: string; remote: string | undefined },
): Promise<Comparison> {
  const [head] = tips;
  if (head === undefined) return { ahead: 0, behind: 0, unpushed: 0, unmerged: false };
  const not = (known: string): Promise<number> => countCommits(git, cwd, [...tips, '--not', known]);
  const [unmerged, [ahead, behind], unpushed] = await Promise.all([
    tips.length === 1 && head === base ? 0 : not(base),
    head === base ? [0, 0] : countBothSides(git, cwd, head, base),
    not(remote === undefined ? base : `--remotes=${remote}`),
  ]);
  return { ahead, behind, unpushed, unmerged: unmerged > 0 };
}

/** How many commits each of two has that the other does not. */
async function countBothSides(git: GitRunner, cwd: string, left: string, right: string): Promise<[number, number]> {
  const counts = await gitText(git, ['rev-list', '--count', '--left-right', `${left}...${right}`], { cwd });
  const [ahead = 0, behind = 0] = counts.split('\t').map(Number);
  return [ahead, behind];
}

/** See `WorktreeGit.inspectNew`. */
export async function inspectNew(
  git: GitRunner,
  request: InspectRequest,
  { path, branch, headSha, created }: Worktree,
): Promise<WorktreeEvidence | undefined> {
  if (!created || headSha !== request.baseSha) return undefined;
  const base = await findBase(git, request.repositoryPath, request);
  if (base.sha !== headSha) return undefined;
  const there = { exists: true, registered: true, gitDirMatches: true, operation: null, locked: null };
  const unchanged = { dirty: 0, untracked: 0, ahead: 0, behind: 0, unpushed: 0, unmerged: false };
  return { path, headSha, branch, branchSha: headSha, base, ...there, ...unchanged, complete: true, problems: [] };
}

/** See `WorktreeGit.inspectWorktree`. */
export async function inspectWorktree(git: GitRunner, request: InspectRequest): Promise<WorktreeEvidence> {
  const { repositoryPath: cwd, branch, baseSha, baseBranch, remote } = request;
  for (const name of [branch, baseBranch, ...(remote === undefined ? [] : [remote])]) assertBranchName(name);
  assertObjectName(baseSha);
  const problems: string[] = [];
  const attempt = async <T, U>(what: string, unknown: U, find: () => Promise<T>): Promise<T | U> => {
    try {
      return await find();
    } catch (error) {
      problems.push(`${what}: ${(error as Error).message}`);
      return unknown;
    }
  };
  const path = await recordedPath(request.worktreePath);
  const commonDir = await gitText(git, ['rev-parse', '--path-format=absolute', '--git-common-dir'], { cwd });
  const listed = (await listWorktrees(git, cwd)).find((worktree) => worktree.path === path);
  const exists = (await lstat(path).catch(() => undefined))?.isDirectory() === true;
  const gitDir = exists ? await linkedGitDir(commonDir, path) : undefined;
  const [status, branchSha = null, base] = await Promise.all([
    gitDir === undefined ? undefined : attempt('The files', undefined, () => honestStatus(git, path)),
    resolveCommit(git, cwd, `refs/heads/${branch}`),
    findBase(git, cwd, request),
  ]);
  if (exists && gitDir === undefined) problems.push(`The files: ${path} is not linked to this repository.`);

  const headSha = (status?.headSha ?? listed?.headSha ?? '').replace(/^(?:0+|\(initial\))$/, '') || null;
  const tips = [...new Set([headSha, branchSha])].filter((sha) => sha !== null);
  const unknown: Comparison = { ahead: 0, behind: 0, unpushed: 0, unmerged: false };
  const comparison = await attempt('The commits', unknown, () => compare(git, cwd, tips, { base: base.sha, remote }));
  const headBranch = status ? status.branch : (listed?.branch ?? null);
  const entries = status?.entries ?? [];
  const untracked = entries.filter((entry) => entry.status === 'untracked').length;
  return {
    path,
    exists,
    registered: listed !== undefined,
    gitDirMatches: gitDir !== undefined,
    headSha,
    branch: headBranch ?? (gitDir === undefined ? null : ((await rebasedBranch(gitDir)) ?? null)),
    branchSha,
    dirty: entries.length - untracked,
    untracked,
    base,
    ...comparison,
    operation: gitDir === undefined ? null : (unfinishedOperation(gitDir) ?? null),
    locked: listed?.locked ?? null,
    complete: problems.length === 0,
    problems,
  };
}

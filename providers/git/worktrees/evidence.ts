import { lstatSync, realpathSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { recordedPath } from '../files/safe-path';
import {
  readStatusOfAny,
  resolveCommit,
  revealHiddenFiles,
  type TrackedRepository,
  unseenByStatus,
  withIndexCopy,
} from '../files/trees';
import { GitError, isDamagedIndex } from '../git-error';
import { rebasedBranch, unfinishedOperation } from '../operation-state';
import { trackingRef } from '../refs/base';
import { assertBranchName, assertObjectName } from '../refs/names';
import { type GitRunner, gitText } from '../run-git';
import { readStatus, type StatusEntry, type WorktreeStatus } from '../status';
import { readPath } from './linked-worktree';
import { administrationDamage, replaced as replacedError, type WorktreeIdentity } from './verify-worktree';
import type { Worktree } from './worktree';
import type { InspectRequest, WorktreeEvidence } from './worktree-git';
import { listWorktrees } from './worktree-list';
import { locateWorktree, type WorktreeLocation } from './worktree-location';

interface Linked {
  /** Where the worktree is, when it is this repository's and the one that was recorded. */
  location: WorktreeLocation | undefined;
  replaced: string | null;
}

const nothing: Linked = { location: undefined, replaced: null };

/** The worktree at a path, when its `.git` leads to this repository's record of it, and that one back. */
export function locateLinked(
  git: GitRunner,
  commonDir: string,
  { identity, path }: { path: string; identity?: WorktreeIdentity | undefined },
): Linked {
  try {
    const location = locateWorktree(git, { worktreePath: path, identity });
    const linked = location.commonDir === commonDir && location.gitDir !== commonDir;
    return linked ? { location, replaced: null } : nothing;
  } catch (error) {
    if (!(error instanceof GitError)) {
      throw error;
    }
    if (error.code === 'worktree-replaced') {
      return { location: undefined, replaced: error.message };
    }
    return identity ? { location: undefined, replaced: brokenLink(path, commonDir) ?? null } : nothing;
  }
}

/** Why the `.git` of a worktree leads to nothing that git can use, when it names a worktree of this repository. */
function brokenLink(path: string, commonDir: string): string | undefined {
  try {
    const gitDir = readPath(join(path, '.git'), 'gitdir: ');
    const isOurs = gitDir !== undefined && dirname(gitDir) === join(commonDir, 'worktrees');
    const damage = isOurs ? administrationDamage(gitDir) : undefined;
    return damage && replacedError(path, damage).message;
  } catch {
    return undefined;
  }
}

/** Like `readStatus`, and without files hidden from it by marks in the index, or in repositories inside the worktree. */
export async function honestStatus(git: GitRunner, location: WorktreeLocation): Promise<WorktreeStatus> {
  const { path } = location;
  const [{ hidden, repositories }, seen] = await Promise.all([unseenByStatus(git, path), readStatus(git, path)]);
  const status = hidden ? await unhiddenStatus(git, location) : seen;
  const changed = await changedRepositories(git, path, repositories);
  const statusPaths = new Set(status.entries.map((entry) => entry.path));
  return { ...status, entries: [...status.entries, ...changed.filter((entry) => !statusPaths.has(entry.path))] };
}

/** With a damaged index, which is a problem, what differs from HEAD: a commit replaces the index. */
async function statusOf(git: GitRunner, location: WorktreeLocation, problems: string[]): Promise<WorktreeStatus> {
  try {
    return await honestStatus(git, location);
  } catch (error) {
    if (!(error instanceof GitError) || !isDamagedIndex(error)) {
      throw error;
    }
    problems.push(`The files: ${error.message}`);
    return readStatusOfAny(git, location);
  }
}

function unhiddenStatus(git: GitRunner, location: WorktreeLocation): Promise<WorktreeStatus> {
  const { path } = location;
  return withIndexCopy(location, async (env) => {
    await revealHiddenFiles(git, path, env);
    return readStatus(git, path, env);
  });
}

/** Repositories inside a worktree that have changes of their own: found out with our configuration, and not with theirs. */
async function changedRepositories(
  git: GitRunner,
  path: string,
  repositories: readonly TrackedRepository[],
): Promise<StatusEntry[]> {
  const changed: StatusEntry[] = [];
  for (const { path: inside } of repositories) {
    const cwd = join(path, inside);
    // One that was never fetched has no files; one behind a link is not in the worktree.
    if (!lstatSync(join(cwd, '.git'), { throwIfNoEntry: false }) || realpathSync(cwd) !== cwd) {
      continue;
    }
    const { entries } = await readStatus(git, cwd).catch(() => ({ entries: [undefined] }));
    if (entries.length > 0) {
      changed.push({ path: inside, status: 'modified', unmerged: false });
    }
  }
  return changed;
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
  const commit = await resolveCommit(git, cwd, ref);
  if (commit === undefined) {
    return { sha: baseSha, source: 'recorded' };
  }
  return { sha: commit, source: remote === undefined ? 'local' : 'remote-tracking' };
}

type Comparison = Pick<WorktreeEvidence, 'ahead' | 'behind' | 'unpushed' | 'unmerged'>;

/** Compares commits; `tips` are HEAD and where the branch is. */
async function compare(
  git: GitRunner,
  cwd: string,
  { tips, base, remote }: { tips: readonly string[]; base: string; remote: string | undefined },
): Promise<Comparison> {
  const [head] = tips;
  if (head === undefined) {
    return { ahead: 0, behind: 0, unpushed: 0, unmerged: false };
  }
  const not = (excluded: string): Promise<number> => countCommits(git, cwd, [...tips, '--not', excluded]);
  const [unmerged, [ahead, behind], unpushed] = await Promise.all([
    tips.length === 1 && head === base ? 0 : not(base),
    head === base ? [0, 0] : countBothSides(git, cwd, { left: head, right: base }),
    not(remote === undefined ? base : `--remotes=${remote}`),
  ]);
  return { ahead, behind, unpushed, unmerged: unmerged > 0 };
}

/** How many commits each of two has that the other does not. */
async function countBothSides(
  git: GitRunner,
  cwd: string,
  { left, right }: { left: string; right: string },
): Promise<[number, number]> {
  const counts = await gitText(git, ['rev-list', '--count', '--left-right', `${left}...${right}`], { cwd });
  const [ahead = 0, behind = 0] = counts.split('\t').map(Number);
  return [ahead, behind];
}

/** See `WorktreeGit.inspectNew`. */
export async function inspectNew(
  git: GitRunner,
  request: InspectRequest,
  { path, branch, headSha, created, identity }: Worktree,
): Promise<WorktreeEvidence | undefined> {
  if (!created || headSha !== request.baseSha) {
    return undefined;
  }
  const base = await findBase(git, request.repositoryPath, request);
  if (base.sha !== headSha) {
    return undefined;
  }
  const there = {
    exists: true,
    identity,
    replaced: null,
    registered: true,
    gitDirMatches: true,
    operation: null,
    locked: null,
  };
  const unchanged = { dirty: 0, untracked: 0, ahead: 0, behind: 0, unpushed: 0, unmerged: false };
  return { path, headSha, branch, branchSha: headSha, base, ...there, ...unchanged, complete: true, problems: [] };
}

/** See `WorktreeGit.inspectWorktree`. */
export async function inspectWorktree(git: GitRunner, request: InspectRequest): Promise<WorktreeEvidence> {
  const { repositoryPath: cwd, branch, baseSha, baseBranch, remote } = request;
  for (const name of [branch, baseBranch, ...(remote === undefined ? [] : [remote])]) {
    assertBranchName(name);
  }
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
  const { commonDir } = git.repositories.place(cwd);
  const listed = (await listWorktrees(git, cwd)).find((worktree) => worktree.path === path);
  const exists = lstatSync(path, { throwIfNoEntry: false }) !== undefined;
  const { location, replaced } = exists ? locateLinked(git, commonDir, { ...request, path }) : nothing;
  const gitDir = location?.gitDir;
  const [status, branchSha = null, base] = await Promise.all([
    location && attempt('The files', undefined, () => statusOf(git, location, problems)),
    resolveCommit(git, cwd, `refs/heads/${branch}`),
    findBase(git, cwd, request),
  ]);
  if (exists && gitDir === undefined) {
    problems.push(`The files: ${replaced ?? `${path} is not linked to this repository.`}`);
  }

  const headSha = (status?.headSha ?? listed?.headSha ?? '').replace(/^(?:0+|\(initial\))$/, '') || null;
  const tips = [...new Set([headSha, branchSha])].filter((sha) => sha !== null);
  const unknown: Comparison = { ahead: 0, behind: 0, unpushed: 0, unmerged: false };
  const comparison = await attempt('The commits', unknown, () => compare(git, cwd, { tips, base: base.sha, remote }));
  const headBranch = status ? status.branch : (listed?.branch ?? null);
  const entries = status?.entries ?? [];
  const untracked = entries.filter((entry) => entry.status === 'untracked').length;
  return {
    path,
    exists,
    identity: location?.identity ?? null,
    replaced,
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

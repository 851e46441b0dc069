import type { RequestedRevision } from '../../../contracts/runs/diff';
import { resolveCommit } from '../files/trees';
import { GitError } from '../git-error';
import { assertObjectName } from '../refs/names';
import { type GitRunner, gitText } from '../run-git';
import { findBase } from '../worktrees/evidence';
import type { ReadingView } from './reading-view';
import type { ReadingSnapshot } from './snapshot';

/** What a request is about. */
export interface RevisionContext {
  repositoryPath: string;
  branch: string;
  baseSha: string;
  baseBranch: string;
  remote?: string | undefined;
  /** Commits of our own records: what leads from them may be read. */
  tips: readonly string[];
}

interface RevisionSources {
  context: RevisionContext;
  /** Absent when the worktree is gone. */
  worktreePath: string | undefined;
  /** Its files, where they are asked for. */
  snapshot: ReadingSnapshot | undefined;
}

export interface ResolvedRevision {
  /** `null` for a worktree. */
  commit: string | null;
  tree: string;
  oversized: ReadonlyMap<string, number>;
}

const unknown = (name: string, why: string): GitError => new GitError('unknown-ref', `${name} ${why}.`);

/** Finds what revisions mean for one worktree, or for a branch whose worktree is gone. */
export function createRevisions(
  git: GitRunner,
  { objects }: ReadingView,
  { context, worktreePath, snapshot }: RevisionSources,
) {
  const cwd = context.repositoryPath;
  /** Where work on the task stands: the worktree's HEAD, else its branch; nothing when both are gone. */
  const currentHead = (): Promise<string | undefined> =>
    worktreePath === undefined
      ? resolveCommit(git, cwd, `refs/heads/${context.branch}`)
      : resolveCommit(git, worktreePath, 'HEAD');

  const head = async (): Promise<string> => {
    const commit = await currentHead();
    if (commit === undefined) {
      throw unknown(`The branch ${context.branch}`, 'has no commit; compare attempts or checkpoints instead');
    }
    return commit;
  };

  const mergeBase = async (base: string): Promise<string> => {
    const commit = await currentHead();
    if (commit === undefined) {
      return base;
    }
    const { exitCode, stdout } = await objects(['merge-base', base, commit], { cwd, okCodes: [1] });
    // Without a common commit, everything differs from the base.
    return exitCode === 0 ? stdout.trim() : base;
  };

  const commitOf = async (requested: RequestedRevision): Promise<string> => {
    switch (requested.kind) {
      case 'head':
        return head();
      case 'merge-base':
        return mergeBase(context.baseSha);
      case 'base':
        return mergeBase((await findBase(git, cwd, context)).sha);
      case 'stored':
        assertObjectName(requested.commit);
        return requested.commit;
      case 'commit':
        await assertReachable(requested.commit);
        return requested.commit;
      case 'worktree':
        throw unknown('The worktree', 'is gone');
    }
  };

  /** Commits that lead to nothing but what belongs to the task. */
  const assertReachable = async (commit: string): Promise<void> => {
    assertObjectName(commit);
    const current = await currentHead();
    const tips = [...(current === undefined ? [] : [current]), context.baseSha, ...context.tips];
    const known = await existingCommits(objects, [commit, ...tips]);
    const outside = known.has(commit)
      ? await gitText(objects, ['rev-list', '--max-count=1', '--stdin'], {
          cwd,
          input: [commit, ...tips.filter((tip) => known.has(tip)).map((tip) => `^${tip}`)]
            .map((line) => `${line}\n`)
            .join(''),
        })
      : commit;
    if (outside !== '') {
      throw unknown(commit, 'is no commit of this task');
    }
  };

  return async (requested: RequestedRevision): Promise<ResolvedRevision> => {
    if (requested.kind === 'worktree' && snapshot) {
      return { commit: null, tree: snapshot.tree, oversized: snapshot.oversized };
    }
    const commit = await commitOf(requested);
    const tree = await resolveTree(objects, commit);
    return { commit, tree, oversized: new Map() };
  };
}

async function resolveTree(objects: GitRunner, commit: string): Promise<string> {
  const question = ['rev-parse', '--verify', '--quiet', '--end-of-options', `${commit}^{tree}`];
  const { exitCode, stdout } = await objects(question, { cwd: '', okCodes: [1, 128] });
  if (exitCode !== 0) {
    throw unknown(commit, 'is not in the repository');
  }
  return stdout.trim();
}

/** Which of these names are those of commits that are there. */
async function existingCommits(objects: GitRunner, names: readonly string[]): Promise<Set<string>> {
  const lines = await gitText(objects, ['cat-file', '--batch-check'], {
    cwd: '',
    input: names.map((name) => `${name}\n`).join(''),
  });
  const found = lines.split('\n').flatMap((line) => /^([0-9a-f]{40,64}) commit \d+$/.exec(line)?.[1] ?? []);
  return new Set(found);
}

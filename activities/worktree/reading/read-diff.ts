import type { Refusal } from '../../../contracts/refusal';
import type { ConflictRead, ConflictReading } from '../../../contracts/runs/conflict';
import type { DiffRead, DiffReading } from '../../../contracts/runs/diff';
import { statesWithoutFiles } from '../../../contracts/runs/worktrees/worktree';
import { refusal } from '../../../domain/refusal';
import type { ProofVerifier } from '../../../platform/temporal/proof-verifier';
import type { DiffRequest } from '../../../providers/git/diff/read-diff';
import type { Git } from '../../../providers/git/git';
import { GitError, type GitErrorCode } from '../../../providers/git/git-error';
import type { WorktreeRecord, WorktreeStore } from '../../../stores/runs/workspaces/worktree-store';
import { readDiffMessage, type Signed } from '../../../workflows/message-proofs';
import { placeOf } from '../record';
import { noWorktree } from '../refusals';
import { readConflicts } from './read-conflicts';

interface DiffDependencies {
  worktrees: Pick<WorktreeStore, 'get'>;
  git: Git;
  /** A query names commits of our records: only the API's are read. */
  proofs: ProofVerifier;
}

/** What git's refusals are to a caller. */
const codes: Partial<Record<GitErrorCode, string>> = {
  'unknown-ref': 'REVISION_NOT_FOUND',
  'unknown-path': 'FILE_NOT_FOUND',
  'too-large': 'DIFF_TOO_LARGE',
  timeout: 'DIFF_TOO_LARGE',
  'repository-diverted': 'REPOSITORY_UNAVAILABLE',
  'not-a-repository': 'REPOSITORY_UNAVAILABLE',
  'worktree-replaced': 'WORKTREE_REPLACED',
};

export function createDiffActivities({ worktrees, git, proofs }: DiffDependencies) {
  return {
    /** Compares states of the files of a task, reads one file, or reads its conflicts. Changes nothing. */
    async readDiff({
      proof,
      ...query
    }: (DiffRead | ConflictRead) & Signed): Promise<DiffReading | ConflictReading | Refusal> {
      await proofs.require(readDiffMessage(query), proof);
      const { taskId } = query;
      const record = await worktrees.get(taskId);
      if (!record) {
        return noWorktree(taskId);
      }
      if (asksForConflicts(query)) {
        return readConflicts(git, record, query);
      }
      const revisions = query.read.what === 'blob' ? [query.to] : [query.from, query.to];
      if (statesWithoutFiles.includes(record.state) && revisions.some(({ kind }) => kind === 'worktree')) {
        return withoutWorktree(record);
      }
      try {
        return await read(git, record, query);
      } catch (error) {
        if (error instanceof GitError) {
          return refusal(codes[error.code] ?? 'DIFF_UNAVAILABLE', error.message, { taskId });
        }
        throw error;
      }
    },
  };
}

export type DiffActivities = ReturnType<typeof createDiffActivities>;

const asksForConflicts = (query: DiffRead | ConflictRead): query is ConflictRead => !('from' in query);

async function read(
  { diffs }: Git,
  record: WorktreeRecord,
  { from, to, tips, ...query }: DiffRead,
): Promise<DiffReading> {
  const { worktreePath, identity, ...place } = { identity: undefined, ...placeOf(record) };
  const worktree = statesWithoutFiles.includes(record.state) ? undefined : { worktreePath, identity };
  const request: DiffRequest = { ...place, worktree, from, to, tips };
  const asked = query.read;
  switch (asked.what) {
    case 'files':
      return { what: 'files', page: await diffs.list(request, asked) };
    case 'full':
      return { what: 'full', page: await diffs.full(request, asked) };
    case 'file':
      return { what: 'file', page: await diffs.file(request, asked.path) };
    case 'blob':
      return { what: 'blob', file: await diffs.blob(request, asked.path) };
  }
}

const withoutWorktree = ({ _id: taskId, state }: WorktreeRecord): Refusal =>
  refusal(
    'WORKTREE_NOT_FOUND',
    `The worktree of the task is ${state}; compare commits instead, with to=head or to=attempt:<id>.`,
    { taskId, state },
  );

import type { DiffFile, DiffPage, FileContent, FileDiff, RequestedRevision } from '../../../contracts/runs/diff';
import { GitError } from '../git-error';
import type { GitRunner } from '../run-git';
import { locateWorktree, type RecordedWorktree } from '../worktrees/worktree-location';
import { readBlob } from './blob';
import { changedFiles } from './changed-files';
import { fileDiffs } from './file-diff';
import { type ReadingView, withReadingView } from './reading-view';
import { createRevisions, type RevisionContext } from './revisions';
import { snapshotForReading } from './snapshot';

/** Where in a list a page begins, and how many items it may have. */
interface Part {
  offset: number;
  limit: number;
}

/** Two revisions to compare, or one to read a file of. */
export interface DiffRequest extends RevisionContext {
  /** Absent when there is no worktree any more. */
  worktree: RecordedWorktree | undefined;
  from: RequestedRevision;
  to: RequestedRevision;
}

/** About how much of a list is returned at once, in bytes of JSON. */
const maxPageBytes = 1_000_000;

/** See `Git.diffs`. Nothing is changed, and every function can be repeated; each throws `GitError`. */
export const createDiffs = (git: GitRunner) => ({
  list: (request: DiffRequest, part: Part) => listDiff(git, request, part),
  full: (request: DiffRequest, part: Part) => readFullDiff(git, request, part),
  file: (request: DiffRequest, path: string) => readFileDiff(git, request, path),
  blob: (request: DiffRequest, path: string) => readFileAt(git, request, path),
});

export type Diffs = ReturnType<typeof createDiffs>;

/** The files that differ, without their lines. */
const listDiff = (git: GitRunner, request: DiffRequest, part: Part): Promise<DiffPage<DiffFile>> =>
  compare(git, request, (files) => Promise.resolve(fitFiles(files.slice(part.offset, part.offset + part.limit))));

/** The files that differ, with their lines. */
const readFullDiff = (git: GitRunner, request: DiffRequest, part: Part): Promise<DiffPage<FileDiff>> =>
  compare(git, request, (files, { objects }) =>
    fileDiffs(objects, files.slice(part.offset, part.offset + part.limit), maxPageBytes),
  );

/** The lines of one file that differ, by its present or its former path. @throws GitError `unknown-path` */
const readFileDiff = (git: GitRunner, request: DiffRequest, path: string): Promise<DiffPage<FileDiff>> =>
  compare(git, request, async (files, { objects }) => {
    const file = files.find((one) => one.path === path) ?? files.find((one) => one.oldPath === path);
    if (!file) {
      throw new GitError('unknown-path', `${JSON.stringify(path)} does not differ between these revisions.`);
    }
    return fileDiffs(objects, [file], maxPageBytes);
  });

/** A file at the revision `to`. */
const readFileAt = (git: GitRunner, request: DiffRequest, path: string): Promise<FileContent> =>
  reading(git, { ...request, from: request.to }, async (resolve, { objects }) =>
    readBlob(objects, await resolve(request.to), path),
  );

type Resolve = ReturnType<typeof createRevisions>;

function compare<T>(
  git: GitRunner,
  request: DiffRequest,
  select: (files: DiffFile[], view: ReadingView) => Promise<T[]>,
): Promise<DiffPage<T>> {
  return reading(git, request, async (resolve, view) => {
    const from = await resolve(request.from);
    const to = await resolve(request.to);
    const files = await changedFiles(view.objects, { from, to });
    const sum = (key: 'additions' | 'deletions') => files.reduce((total, file) => total + file[key], 0);
    return {
      from: { commit: from.commit, tree: from.tree },
      to: { commit: to.commit, tree: to.tree },
      files: await select(files, view),
      totalFiles: files.length,
      totalAdditions: sum('additions'),
      totalDeletions: sum('deletions'),
    };
  });
}

async function reading<T>(
  git: GitRunner,
  request: DiffRequest,
  work: (resolve: Resolve, view: ReadingView) => Promise<T>,
): Promise<T> {
  const location = request.worktree && locateWorktree(git, request.worktree);
  const { commonDir } = location ?? git.repositories.place(request.repositoryPath);
  if (location && commonDir !== git.repositories.place(request.repositoryPath).commonDir) {
    throw new GitError(
      'worktree-replaced',
      `${location.path} belongs to another repository than it was recorded with.`,
    );
  }
  return withReadingView(git, commonDir, async (view) => {
    const needsFiles = [request.from, request.to].some(({ kind }) => kind === 'worktree');
    const snapshot = location && needsFiles ? await snapshotForReading(view.worktree, location) : undefined;
    return work(createRevisions(git, view, { context: request, worktreePath: location?.path, snapshot }), view);
  });
}

/** As many files as one response may have. */
function fitFiles(files: readonly DiffFile[]): DiffFile[] {
  let used = 0;
  const end = files.findIndex((file, index) => {
    used += Buffer.byteLength(JSON.stringify(file));
    return index > 0 && used > maxPageBytes;
  });
  return end < 0 ? [...files] : files.slice(0, end);
}

import { lstatSync } from 'node:fs';
import { join } from 'node:path';
import type { ConflictReading, ConflictText, ConflictVersion } from '../../../contracts/runs/conflict';
import { objectSizes } from '../diff/file-diff';
import { type ReadingView, withReadingView } from '../diff/reading-view';
import { resolveCommit, withIndexCopy } from '../files/trees';
import { GitError } from '../git-error';
import type { GitRunner } from '../run-git';
import { locateWorktree, type RecordedWorktree, type WorktreeLocation } from '../worktrees/worktree-location';
import { conflictMarkers } from './markers';
import { appliedCommit, remainingNames, stoppedIn } from './unfinished';
import {
  indexEntry,
  kindOf,
  linkMode,
  repositoryMode,
  unmergedAt,
  unmergedFiles,
  type UnmergedVersion,
} from './unmerged';

/** The most files in conflict that are listed. */
const maxListed = 1_000;

/** The largest version that is returned with its text, and the most of all of them together as JSON, in bytes. */
const maxVersionBytes = 524_288;
const maxResponseBytes = 1_400_000;

type State = Extract<ConflictReading, { what: 'conflicts' }>['state'];
type File = Extract<ConflictReading, { what: 'conflict' }>['file'];

/** The conflicts in a worktree. @throws GitError */
export async function listConflicts(
  git: GitRunner,
  { repositoryPath, ...recorded }: RecordedWorktree & { repositoryPath: string },
): Promise<State> {
  const location = locateIn(git, repositoryPath, recorded);
  const { path: cwd, gitDir } = location;
  const [files, oursCommit = null, theirsCommit = null] = await Promise.all([
    unmergedFiles(git, cwd),
    resolveCommit(git, cwd, 'HEAD'),
    appliedCommit(git, location),
  ]);
  const operation = stoppedIn(gitDir);
  const listed = files.slice(0, maxListed);
  return {
    hasConflicts: files.length > 0,
    conflictingFiles: listed.map(({ path }) => path),
    files: listed.map((file) => ({ path: file.path, kind: kindOf(file) })),
    totalConflicts: files.length,
    rebaseInProgress: operation === 'rebase',
    mergeInProgress: operation === 'merge',
    operation,
    oursCommit,
    theirsCommit,
    remainingCommits: operation === 'rebase' ? (remainingNames(gitDir)?.length ?? null) : null,
  };
}

/**
 * A file in conflict in its versions, read in a view of its own as those of a diff are: nothing is written to the repository, and
 * no link is followed.
 *
 * @throws GitError `unknown-path` when it is not in conflict
 */
export async function readConflict(
  git: GitRunner,
  { repositoryPath, ...recorded }: RecordedWorktree & { repositoryPath: string },
  path: string,
): Promise<File> {
  const location = locateIn(git, repositoryPath, recorded);
  return withReadingView(git, location.commonDir, async (view) => {
    const file = unmergedAt(await unmergedFiles(view.worktree, location.path), path);
    const worktree = await readFromWorktree(view, location, path);
    const versions = { worktree, ours: file.ours, theirs: file.theirs, base: file.base };
    const read = await readVersions(view, versions);
    return {
      path,
      kind: kindOf(file),
      content: read.worktree.content,
      oursContent: read.ours.content,
      theirsContent: read.theirs.content,
      baseContent: read.base.content,
      versions: {
        worktree: read.worktree.version,
        ours: read.ours.version,
        theirs: read.theirs.version,
        base: read.base.version,
      },
      markers: conflictMarkers(read.worktree.content ?? ''),
    };
  });
}

function locateIn(git: GitRunner, repositoryPath: string, recorded: RecordedWorktree): WorktreeLocation {
  const location = locateWorktree(git, recorded);
  if (location.commonDir !== git.repositories.place(repositoryPath).commonDir) {
    throw new GitError(
      'worktree-replaced',
      `${location.path} belongs to another repository than it was recorded with.`,
    );
  }
  return location;
}

/** A version to read; of a file that is too large to be read, its size in bytes. */
type Found = UnmergedVersion | { mode: string; oversized: number };

/** The file of the worktree as an object of the view; one that is too large is not read. */
async function readFromWorktree(
  { worktree: git }: ReadingView,
  location: WorktreeLocation,
  path: string,
): Promise<Found | undefined> {
  const facts = lstatSync(join(location.path, path), { throwIfNoEntry: false });
  if (!facts || !(facts.isFile() || facts.isSymbolicLink())) {
    return undefined;
  }
  if (facts.size > maxVersionBytes) {
    return { mode: facts.mode & 0o100 ? '100755' : '100644', oversized: facts.size };
  }
  return withIndexCopy(location, async (env) => {
    const cwd = location.path;
    // Where a link leads out of the worktree git refuses the path, and there is no file.
    const taken = await git(['update-index', '-z', '--stdin'], { cwd, env, input: `${path}\0`, okCodes: [128] });
    return taken.exitCode === 0 ? indexEntry(git, cwd, { path, env }) : undefined;
  });
}

type Versions<T> = Record<'worktree' | 'ours' | 'theirs' | 'base', T>;

interface ReadVersion {
  content: string | null;
  version: ConflictVersion | null;
}

async function readVersions(
  { objects }: ReadingView,
  versions: Versions<Found | undefined>,
): Promise<Versions<ReadVersion>> {
  const names = Object.values(versions).flatMap((version) => (version && 'object' in version ? [version.object] : []));
  const sizes = await objectSizes(objects, [...new Set(names)]);
  let left = maxResponseBytes;
  const read = async (found: Found | undefined): Promise<ReadVersion> => {
    if (!found) {
      return { content: null, version: null };
    }
    if ('oversized' in found) {
      return { content: null, version: { mode: found.mode, bytes: found.oversized, text: 'too-large' } };
    }
    const { mode, object } = found;
    if (mode === repositoryMode) {
      return { content: null, version: { mode, object, text: 'repository' } };
    }
    const bytes = sizes.get(object);
    if (bytes === undefined) {
      throw new GitError('unknown-ref', `The repository has no object ${object}.`);
    }
    const without = (text: ConflictText): ReadVersion => ({ content: null, version: { mode, object, bytes, text } });
    if (bytes > maxVersionBytes) {
      return without('too-large');
    }
    const { stdout } = await objects(['cat-file', 'blob', object], { cwd: '', encoding: 'latin1' });
    const content = textOf(Buffer.from(stdout, 'latin1'));
    if (content === undefined) {
      return without('binary');
    }
    const used = Buffer.byteLength(JSON.stringify(content));
    if (used > left) {
      return without('too-large');
    }
    left -= used;
    return { content, version: { mode, object, bytes, text: mode === linkMode ? 'link' : 'utf-8' } };
  };
  // One after the other: what does not fit any more is the same at every time.
  const worktree = await read(versions.worktree);
  const ours = await read(versions.ours);
  const theirs = await read(versions.theirs);
  return { worktree, ours, theirs, base: await read(versions.base) };
}

/** Bytes as text, a byte order mark too; `undefined` when they are none. */
export function textOf(bytes: Buffer): string | undefined {
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
    return text.includes('\0') ? undefined : text;
  } catch {
    return undefined;
  }
}

import { z } from 'zod';
import { filePath, objectName, taskId } from '../common';
import { listPage, nextCursor } from '../query';

/**
 * A state of a task's files: the worktree as it is, its HEAD, where the branch began (`merge-base`), where it left the base
 * branch as that is now (`base`), a checkpoint, an attempt (its begin as `from`, its end as `to`), or a commit.
 */
export const revisionSelector = z
  .string()
  .max(100)
  .regex(
    /^(?:worktree|head|merge-base|base|checkpoint:checkpoint_[A-Za-z0-9]{8,26}_[1-9][0-9]{0,3}|attempt:attempt_[A-Za-z0-9]{8,26}|[0-9a-f]{40}(?:[0-9a-f]{24})?)$/,
    'must be worktree, head, merge-base, base, checkpoint:<id>, attempt:<id> or a full commit name',
  )
  .meta({ id: 'RevisionSelector' });

/** What a selector has led to. */
const resolvedRevision = z.object({
  selector: revisionSelector,
  /** The commit; null for the worktree, whose files are no commit. */
  commit: objectName.nullable(),
  tree: objectName,
});

const range = {
  from: revisionSelector.default('merge-base'),
  to: revisionSelector.default('worktree'),
};

export const diffStatus = z.enum(['added', 'modified', 'deleted', 'renamed']);

/** Why a file is listed without its lines, or with a part of them. */
const cut = z.enum(['file-too-large', 'too-many-lines']);

const fileFacts = {
  path: z.string(),
  /** Of a renamed file: where it was. */
  oldPath: z.string().optional(),
  status: diffStatus,
  additions: z.number().int(),
  deletions: z.number().int(),
  binary: z.boolean(),
  /** Six octal digits, as git writes them; absent where there is no such file. */
  oldMode: z.string().optional(),
  newMode: z.string().optional(),
  /** The content as git names it; of a repository inside, its commit. */
  oldObject: z.string().optional(),
  newObject: z.string().optional(),
  /** Whether it is a repository inside the worktree: only its commit is compared. */
  submodule: z.boolean().optional(),
  cut: cut.optional(),
};

export const diffFile = z.object(fileFacts).meta({ id: 'DiffFile' });
export type DiffFile = z.infer<typeof diffFile>;

const diffLine = z.object({
  type: z.enum(['context', 'add', 'delete']),
  content: z.string(),
  oldNumber: z.number().int().optional(),
  newNumber: z.number().int().optional(),
  /** The last line of its file, without a line end. */
  noNewline: z.boolean().optional(),
});
export type DiffLine = z.infer<typeof diffLine>;

export const diffHunk = z
  .object({
    oldStart: z.number().int(),
    oldLines: z.number().int(),
    newStart: z.number().int(),
    newLines: z.number().int(),
    lines: z.array(diffLine),
  })
  .meta({ id: 'DiffHunk' });
export type DiffHunk = z.infer<typeof diffHunk>;

export const fileDiff = z
  .object({ ...fileFacts, hunks: z.array(diffHunk), language: z.string() })
  .meta({ id: 'FileDiff' });
export type FileDiff = z.infer<typeof fileDiff>;

const resolvedRange = { from: resolvedRevision, to: resolvedRevision };

/** `GET /api/diff/:taskId`: the files that differ, sorted by path; the totals are of all of them. */
export const diffSummary = z
  .object({
    taskId,
    ...resolvedRange,
    files: z.array(diffFile),
    totalFiles: z.number().int(),
    totalAdditions: z.number().int(),
    totalDeletions: z.number().int(),
    nextCursor,
  })
  .meta({ id: 'DiffSummary' });

/** `GET /api/diff/:taskId/full`: the same with lines. */
export const fullDiff = diffSummary.extend({ files: z.array(fileDiff) }).meta({ id: 'FullDiff' });

export const diffQuery = z.strictObject({ ...range, ...listPage(500, 1_000) }).meta({ id: 'DiffQuery' });

export const fileDiffQuery = z.strictObject({ path: filePath, ...range }).meta({ id: 'FileDiffQuery' });

export const fullDiffQuery = z.strictObject({ ...range, ...listPage(50, 100) }).meta({ id: 'FullDiffQuery' });

export const blobQuery = z
  .strictObject({ path: filePath, revision: revisionSelector.default('worktree') })
  .meta({ id: 'DiffBlobQuery' });

/** One file at a revision, as a host returns it. */
export interface FileContent {
  /** Base64. */
  content: string;
  object: string;
  mode: string;
}

/** A state of files as it is sent to a host; `stored` names a commit that our own records have. */
export type RequestedRevision =
  | { kind: 'worktree' | 'head' | 'merge-base' | 'base' }
  | { kind: 'stored'; commit: string }
  | { kind: 'commit'; commit: string };

/** What a host is asked to read of a task's files. */
export interface DiffRead {
  taskId: string;
  from: RequestedRevision;
  to: RequestedRevision;
  /** Commits of our own records: what leads from them may be read. */
  tips: string[];
  read: { what: 'files' | 'full'; offset: number; limit: number } | { what: 'file' | 'blob'; path: string };
}

interface ReadRevision {
  commit: string | null;
  tree: string;
}

export interface DiffPage<T> {
  from: ReadRevision;
  to: ReadRevision;
  files: T[];
  totalFiles: number;
  totalAdditions: number;
  totalDeletions: number;
}

/** What a host has read. */
export type DiffReading =
  | { what: 'files'; page: DiffPage<DiffFile> }
  | { what: 'full' | 'file'; page: DiffPage<FileDiff> }
  | { what: 'blob'; file: FileContent };

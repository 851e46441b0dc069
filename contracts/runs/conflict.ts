import { z } from 'zod';
import { filePath, objectName, taskId, text } from '../common';

/** The operations of git that stop at a conflict. */
export const stoppedOperation = z.enum(['rebase', 'merge', 'cherry-pick', 'revert']);
export type StoppedOperation = z.infer<typeof stoppedOperation>;

/** Which versions of a file are in conflict. During a rebase `us` is the base with what is on it already, `them` the branch. */
export const conflictKind = z.enum([
  'both-modified',
  'both-added',
  'both-deleted',
  'deleted-by-us',
  'deleted-by-them',
  'added-by-us',
  'added-by-them',
]);
export type ConflictKind = z.infer<typeof conflictKind>;

const conflictedFile = z.object({ path: z.string(), kind: conflictKind });

const conflictFacts = {
  hasConflicts: z.boolean(),
  /** The paths in conflict, the first 1,000 of `totalConflicts`. */
  conflictingFiles: z.array(z.string()),
  files: z.array(conflictedFile),
  totalConflicts: z.number().int(),
  rebaseInProgress: z.boolean(),
  mergeInProgress: z.boolean(),
  operation: stoppedOperation.nullable(),
  /** HEAD, and the commit that is applied to it. */
  oursCommit: objectName.nullable(),
  theirsCommit: objectName.nullable(),
  /** Commits that a rebase still has to apply after this one; null when that cannot be read, or there is no rebase. */
  remainingCommits: z.number().int().nullable(),
};

/** `GET /api/conflicts/:taskId` */
export const conflictState = z.object({ taskId, ...conflictFacts }).meta({ id: 'ConflictState' });
export type ConflictState = z.infer<typeof conflictState>;

/** Why a version has no text: `binary` (no UTF-8, or with NUL), `too-large`, `link`, `repository`. */
const conflictText = z.enum(['utf-8', 'binary', 'too-large', 'link', 'repository']);
export type ConflictText = z.infer<typeof conflictText>;

const conflictVersion = z
  .object({
    /** Six octal digits, as git writes them. */
    mode: z.string(),
    /** The content as git names it; of a repository inside, its commit. Absent for a file that was too large to be read. */
    object: objectName.optional(),
    /** Absent for a repository inside. */
    bytes: z.number().int().optional(),
    text: conflictText,
  })
  .meta({ id: 'ConflictVersion' });
export type ConflictVersion = z.infer<typeof conflictVersion>;

/** The lines of one conflict in the file of the worktree, counted from 1. */
const conflictMarker = z.object({
  startLine: z.number().int(),
  /** Only where git was configured to write the base too. */
  baseLine: z.number().int().optional(),
  separatorLine: z.number().int(),
  endLine: z.number().int(),
  oursLabel: z.string(),
  theirsLabel: z.string(),
});
export type ConflictMarker = z.infer<typeof conflictMarker>;

/** `GET /api/conflicts/:taskId/file`: a version without text has null and its reason in `versions`; null there is no file. */
export const conflictFile = z
  .object({
    taskId,
    path: z.string(),
    kind: conflictKind,
    content: z.string().nullable(),
    oursContent: z.string().nullable(),
    theirsContent: z.string().nullable(),
    baseContent: z.string().nullable(),
    versions: z.object({
      worktree: conflictVersion.nullable(),
      ours: conflictVersion.nullable(),
      theirs: conflictVersion.nullable(),
      base: conflictVersion.nullable(),
    }),
    markers: z.array(conflictMarker),
  })
  .meta({ id: 'ConflictFile' });
export type ConflictFile = z.infer<typeof conflictFile>;

export const conflictFileQuery = z.strictObject({ path: filePath }).meta({ id: 'ConflictFileQuery' });

/** The most characters of a file that is written by hand. */
const maxManualContent = 900_000;

/**
 * `ours` and `theirs` take that version, or remove the file where that version has none. `manual` takes `manualContent`; without
 * it, the file as it is in the worktree.
 */
export const conflictResolution = z
  .strictObject({
    resolution: z.enum(['ours', 'theirs', 'manual']),
    manualContent: z
      .string()
      .max(maxManualContent)
      .refine((content) => !/[\0\ud800-\udfff]/u.test(content), 'must be UTF-8 text without NUL')
      .optional(),
  })
  .refine(({ resolution, manualContent }) => manualContent === undefined || resolution === 'manual', {
    path: ['manualContent'],
    message: 'is for the resolution `manual` only',
  })
  .meta({ id: 'ConflictResolution' });

export const conflictResolved = z
  .object({ success: z.literal(true), remainingConflicts: z.array(z.string()) })
  .meta({ id: 'ConflictResolved' });

export const conflictContinue = z.strictObject({ message: text(5_000, 1).optional() }).meta({ id: 'ConflictContinue' });

/** `keptRef` leads to the files as they were. */
export const conflictAborted = z
  .object({ aborted: z.literal(true), keptRef: z.string().nullable() })
  .meta({ id: 'ConflictAborted' });

/** `completed`: the rebase or merge is done; else it has stopped again, at the conflicts that are listed. */
export const conflictContinued = z
  .object({ completed: z.boolean(), headSha: objectName.nullable(), ...conflictFacts })
  .meta({ id: 'ConflictContinued' });

/**
 * A rebase or merge that has stopped, as far as it takes to continue or abort it. Of a rebase `headSha` is on the base, with what
 * is on it already, and the branch is at `branchSha` until the end.
 */
export const stopped = z.discriminatedUnion('kind', [
  z.object({
    kind: z.literal('rebase'),
    headSha: objectName,
    branchSha: objectName,
    /** The commit that it stopped at, and those that follow. */
    stoppedSha: objectName,
    remaining: z.array(objectName),
  }),
  z.object({
    kind: z.literal('merge'),
    headSha: objectName,
    /** The commits that are merged into HEAD. */
    heads: z.array(objectName),
  }),
]);
export type Stopped = z.infer<typeof stopped>;
export type StoppedRebase = Extract<Stopped, { kind: 'rebase' }>;
export type StoppedMerge = Extract<Stopped, { kind: 'merge' }>;

/** What a file in conflict is to become: a version of it, nothing, a text, or what was seen of it in the worktree. */
export const resolutionTarget = z.discriminatedUnion('as', [
  z.object({ as: z.literal('version'), mode: z.string(), object: objectName }),
  z.object({ as: z.literal('removed') }),
  z.object({ as: z.literal('text'), mode: z.string() }),
  z.object({ as: z.literal('worktree'), object: objectName }),
]);
export type ResolutionTarget = z.infer<typeof resolutionTarget>;

/** What a host is asked about the conflicts in the worktree of a task. */
export interface ConflictRead {
  taskId: string;
  read: { what: 'conflicts' } | { what: 'conflict'; path: string };
}

/** What a host has read of them. */
export type ConflictReading =
  | { what: 'conflicts'; state: Omit<ConflictState, 'taskId'> }
  | { what: 'conflict'; file: Omit<ConflictFile, 'taskId'> };

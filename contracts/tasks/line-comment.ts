import { z } from 'zod';
import {
  attemptId,
  commitPolicy,
  filePath,
  objectName,
  phase,
  revision,
  slug,
  taskId,
  text,
  timestamp,
} from '../common';
import { listPage } from '../query';
import { idempotencyKey, launchResponse } from '../runs/launch/launch';

export const lineCommentId = z
  .string()
  .regex(/^linecomment_[0-9a-f]{12}$/, 'must look like linecomment_0123456789ab')
  .meta({ id: 'LineCommentId' });

/** Maximum comments of one task, and maximum of one review that an agent is sent. */
export const maxLineComments = 500;

export const lineCommentState = z.enum(['open', 'sent', 'resolved']);

/** Which side of a change the line is on: the file before it, or after it. */
export const diffSide = z.enum(['old', 'new']);

const line = z.number().int().min(1).max(10_000_000);
const body = text(5_000, 1);

const place = {
  path: filePath,
  side: diffSide,
  /** Absent for a comment on the whole file. */
  line: line.optional(),
  /** The first line of several; `line` is the last one. */
  startLine: line.optional(),
  /** The commit whose version of the file the line is in; absent for the worktree. */
  commit: objectName.optional(),
  /** The attempt whose changes were looked at. */
  attemptId: attemptId.optional(),
  /** The text of the line, for readers of the comment. */
  excerpt: text(2_000).optional(),
};

/** A comment on a line of a file that a task changes. */
export const lineComment = z
  .object({
    id: lineCommentId,
    taskId,
    ...place,
    /** Markdown; renderers must not trust it. */
    body,
    author: z.string(),
    state: lineCommentState,
    /** The attempt whose agent was sent the comment last. */
    sent: z.object({ attemptId, at: timestamp, by: z.string() }).optional(),
    /** Where it came from, when it was not written here: the forge and its own name of it. */
    source: z.object({ name: slug, id: z.string(), url: z.string().optional() }).optional(),
    revision,
    createdAt: timestamp,
    createdBy: z.string(),
    updatedAt: timestamp,
    updatedBy: z.string(),
  })
  .meta({ id: 'LineComment' });
export type LineComment = z.infer<typeof lineComment>;

/** `author` defaults to the caller. */
export const lineCommentCreate = z
  .strictObject({ ...place, side: diffSide.default('new'), body, author: text(100, 1).optional() })
  .refine(({ line, startLine }) => startLine === undefined || (line !== undefined && startLine <= line), {
    path: ['startLine'],
    message: 'must not be after line',
  })
  .meta({ id: 'LineCommentCreate' });
export type LineCommentCreate = z.output<typeof lineCommentCreate>;

/** Resolves or reopens a comment, or changes its text while it is open. */
export const lineCommentPatch = z
  .strictObject({
    body: body.optional(),
    state: z.enum(['open', 'resolved']).optional(),
    expectedRevision: revision.optional(),
  })
  .refine(({ body, state }) => body !== undefined || state !== undefined, {
    path: ['body'],
    message: 'body or state is required',
  })
  .meta({ id: 'LineCommentPatch' });
export type LineCommentPatch = z.output<typeof lineCommentPatch>;

/** The oldest first; `sentTo` is the attempt that was sent them. */
export const lineCommentQuery = z
  .strictObject({
    state: lineCommentState.optional(),
    path: filePath.optional(),
    sentTo: attemptId.optional(),
    ...listPage(100, 500),
  })
  .meta({ id: 'LineCommentQuery' });
export type LineCommentQuery = z.output<typeof lineCommentQuery>;

/** Open comments for the agent of an ended attempt, all of them unless named; as a follow-up in its session. */
export const lineCommentSend = z
  .strictObject({
    sourceAttemptId: attemptId,
    commentIds: z.array(lineCommentId).min(1).max(maxLineComments).optional(),
    /** What to say before the comments. */
    message: text(5_000, 1).optional(),
    phase: phase.optional(),
    commitPolicy: commitPolicy.optional(),
    idempotencyKey: idempotencyKey.optional(),
  })
  .meta({ id: 'LineCommentSend' });
export type LineCommentSend = z.output<typeof lineCommentSend>;

export const lineCommentsSent = z
  .object({ launch: launchResponse, comments: z.array(lineComment) })
  .meta({ id: 'LineCommentsSent' });

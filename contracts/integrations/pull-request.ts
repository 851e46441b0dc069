import { z } from 'zod';
import { branchName, objectName, slug, taskId, text, timestamp } from '../common';
import { forgeCheck, forgeKind, forgePullRequest, forgeReview, pullRequestState } from './forge';

/** Absent fields: the values of the task for a new pull request, and what it has for one that is there. */
export const pullRequestCreate = z
  .strictObject({
    taskId,
    title: text(250, 1).optional(),
    /** Markdown. */
    body: text(60_000).optional(),
    /** The branch that it is to be merged into; the base of the worktree when absent. */
    targetBranch: branchName.optional(),
    draft: z.boolean().optional(),
  })
  .meta({ id: 'PullRequestCreate' });
export type PullRequestCreate = z.infer<typeof pullRequestCreate>;

/** What is stored of the pull request of a task, as its forge reported it last. */
export const storedPullRequest = forgePullRequest.omit({ body: true });
export type StoredPullRequest = z.infer<typeof storedPullRequest>;

/** The most checks and reviews of a pull request that are stored, and comments of reviewers that are brought in. */
export const maxChecks = 200;
export const maxReviews = 200;
export const maxReviewComments = 500;

/** What its checks and reviewers say; stored when the forge is asked for it. */
export const pullRequestReview = z.object({
  checks: z.array(forgeCheck).max(maxChecks),
  reviews: z.array(forgeReview).max(maxReviews),
  /** Comments of reviewers on lines that became comments of the task, and those that could not. */
  reviewComments: z.object({ imported: z.number().int(), skipped: z.number().int() }),
});
export type PullRequestReviewState = z.infer<typeof pullRequestReview>;

export const pullRequest = z
  .object({
    taskId,
    /** The configured repository, and what it is at its forge. */
    repo: slug,
    kind: forgeKind,
    repository: z.string(),
    url: z.string(),
    number: z.number().int().min(1),
    title: z.string(),
    state: pullRequestState,
    draft: z.boolean(),
    headBranch: z.string(),
    baseBranch: z.string(),
    /** The commit of the head as the forge has it. */
    headSha: z.string(),
    /** The commit that was pushed last from here. */
    pushedSha: objectName.nullable(),
    /** When the forge was asked last. */
    refreshedAt: timestamp,
    mergeable: z.boolean().nullable(),
    /** Absent until the forge was asked for it, by `POST /api/github/pr/:taskId/refresh` or without a call. */
    review: pullRequestReview.optional(),
  })
  .meta({ id: 'PullRequest' });
export type PullRequest = z.infer<typeof pullRequest>;

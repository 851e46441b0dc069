import { z } from 'zod';
import { timestamp } from '../common';

/** The families of forges that are spoken to. */
export const forgeKind = z.enum(['github', 'gitlab']).meta({ id: 'ForgeKind' });
export type ForgeKind = z.infer<typeof forgeKind>;

/** A repository of a forge: `owner/name`, or with more groups at GitLab. */
export const forgeRepository = z
  .string()
  .max(200)
  .regex(
    /^[A-Za-z0-9_][A-Za-z0-9_.-]*(?:\/[A-Za-z0-9_][A-Za-z0-9_.-]*){1,10}$/,
    'must be owner/name, of letters, digits, dot, dash and underscore',
  );

export const pullRequestState = z.enum(['open', 'closed', 'merged']).meta({ id: 'PullRequestState' });

/** A pull request as its forge reports it; GitLab calls it merge request. */
export const forgePullRequest = z.object({
  number: z.number().int().min(1),
  url: z.string(),
  title: z.string(),
  body: z.string(),
  state: pullRequestState,
  draft: z.boolean(),
  headBranch: z.string(),
  headSha: z.string(),
  baseBranch: z.string(),
  updatedAt: timestamp,
});
export type ForgePullRequest = z.infer<typeof forgePullRequest>;

/** What a check of a commit came to. */
export const forgeCheck = z
  .object({
    name: z.string(),
    state: z.enum(['pending', 'success', 'failure', 'neutral']),
    url: z.string().nullable(),
  })
  .meta({ id: 'PullRequestCheck' });
export type ForgeCheck = z.infer<typeof forgeCheck>;

export const forgeReview = z
  .object({
    author: z.string(),
    state: z.enum(['approved', 'changes-requested', 'commented', 'dismissed']),
    body: z.string(),
    submittedAt: timestamp.nullable(),
  })
  .meta({ id: 'PullRequestReview' });
export type ForgeReview = z.infer<typeof forgeReview>;

/** A comment on a line of the change; `line` is null when it is about the file, or the line is gone. */
export const forgeReviewComment = z
  .object({
    id: z.string(),
    author: z.string(),
    path: z.string(),
    line: z.number().int().nullable(),
    side: z.enum(['old', 'new']),
    body: z.string(),
    commit: z.string().nullable(),
    inReplyTo: z.string().nullable(),
    url: z.string().nullable(),
    createdAt: timestamp,
    updatedAt: timestamp,
  })
  .meta({ id: 'PullRequestReviewComment' });
export type ForgeReviewComment = z.infer<typeof forgeReviewComment>;

/** An issue as its forge reports it. */
export interface ForgeIssue {
  number: number;
  url: string;
  title: string;
  body: string;
  state: 'open' | 'closed';
  labels: string[];
  author: string;
  updatedAt: string;
}

/** A comment on an issue. */
export interface ForgeComment {
  id: string;
  author: string;
  body: string;
  createdAt: string;
  updatedAt: string;
}

import { z } from 'zod';
import type {
  ForgeCheck,
  ForgeComment,
  ForgeIssue,
  ForgePullRequest,
  ForgeReview,
  ForgeReviewComment,
} from '../../../contracts/integrations/forge';
import { forgeMoment } from '../forge-fetch';

/** A deleted account is `null`, which GitHub shows as ghost. */
const user = z
  .object({ login: z.string() })
  .nullish()
  .transform((account) => account?.login ?? 'ghost');
const text = z
  .string()
  .nullish()
  .transform((value) => value ?? '');

export const githubPull = z
  .object({
    number: z.number(),
    node_id: z.string(),
    html_url: z.string(),
    title: z.string(),
    body: text,
    state: z.enum(['open', 'closed']),
    merged_at: z.string().nullish(),
    draft: z.boolean().default(false),
    head: z.object({ ref: z.string(), sha: z.string() }),
    base: z.object({ ref: z.string() }),
    mergeable: z.boolean().nullish(),
    updated_at: forgeMoment,
  })
  .transform(({ node_id: nodeId, html_url: url, head, base, merged_at: mergedAt, updated_at: updatedAt, ...rest }) => {
    const pull: ForgePullRequest = {
      number: rest.number,
      url,
      title: rest.title,
      body: rest.body,
      state: mergedAt === null || mergedAt === undefined ? rest.state : 'merged',
      draft: rest.draft,
      headBranch: head.ref,
      headSha: head.sha,
      baseBranch: base.ref,
      mergeable: rest.mergeable ?? null,
      updatedAt,
    };
    return { nodeId, pull };
  });

const failures = ['failure', 'timed_out', 'cancelled', 'action_required', 'startup_failure', 'error'];

/** One vocabulary for the conclusions of check runs and the states of statuses. */
function checkState(finished: boolean, conclusion: string | null | undefined): ForgeCheck['state'] {
  if (!finished) {
    return 'pending';
  }
  if (conclusion === 'success') {
    return 'success';
  }
  return failures.includes(conclusion ?? '') ? 'failure' : 'neutral';
}

export const githubCheckRun = z
  .object({ name: z.string(), status: z.string(), conclusion: z.string().nullish(), html_url: z.string().nullish() })
  .transform(({ name, status, conclusion, html_url: url }): ForgeCheck => ({
    name,
    state: checkState(status === 'completed', conclusion),
    url: url ?? null,
  }));

export const githubStatus = z
  .object({ context: z.string(), state: z.string(), target_url: z.string().nullish() })
  .transform(({ context, state, target_url: url }): ForgeCheck => ({
    name: context,
    state: checkState(state !== 'pending', state),
    url: url ?? null,
  }));

const reviewStates: Partial<Record<string, ForgeReview['state']>> = {
  APPROVED: 'approved',
  CHANGES_REQUESTED: 'changes-requested',
  DISMISSED: 'dismissed',
};

export const githubReview = z
  .object({ user, state: z.string(), body: text, submitted_at: forgeMoment.nullish() })
  .transform(({ user: author, state, body, submitted_at: submittedAt }): ForgeReview => ({
    author,
    state: reviewStates[state] ?? 'commented',
    body,
    submittedAt: submittedAt ?? null,
  }));

export const githubReviewComment = z
  .object({
    id: z.number(),
    user,
    path: z.string(),
    line: z.number().nullish(),
    side: z.string().nullish(),
    body: text,
    commit_id: z.string().nullish(),
    in_reply_to_id: z
      .number()
      .nullish()
      .transform((value) => value ?? null),
    html_url: z.string().nullish(),
    created_at: forgeMoment,
    updated_at: forgeMoment,
  })
  .transform((sent): ForgeReviewComment => ({
    id: String(sent.id),
    author: sent.user,
    path: sent.path,
    line: sent.line ?? null,
    side: sent.side === 'LEFT' ? 'old' : 'new',
    body: sent.body,
    commit: sent.commit_id ?? null,
    inReplyTo: sent.in_reply_to_id === null ? null : String(sent.in_reply_to_id),
    url: sent.html_url ?? null,
    createdAt: sent.created_at,
    updatedAt: sent.updated_at,
  }));

const label = z.union([z.string(), z.object({ name: z.string().nullish() }).transform(({ name }) => name ?? '')]);

/** `isPull`: GitHub lists pull requests among the issues. */
export const githubIssue = z
  .object({
    number: z.number(),
    html_url: z.string(),
    title: z.string(),
    body: text,
    state: z.enum(['open', 'closed']),
    labels: z.array(label).default([]),
    user,
    updated_at: forgeMoment,
    comments: z.number().optional(),
    pull_request: z.unknown().optional(),
  })
  .transform((sent) => {
    const issue: ForgeIssue = {
      number: sent.number,
      url: sent.html_url,
      title: sent.title,
      body: sent.body,
      state: sent.state,
      labels: sent.labels,
      author: sent.user,
      comments: sent.comments,
      updatedAt: sent.updated_at,
    };
    return { issue, isPull: sent.pull_request !== undefined };
  });

export const githubComment = z
  .object({ id: z.number(), user, body: text, created_at: forgeMoment, updated_at: forgeMoment })
  .transform((sent): ForgeComment => ({
    id: String(sent.id),
    author: sent.user,
    body: sent.body,
    createdAt: sent.created_at,
    updatedAt: sent.updated_at,
  }));

import { z } from 'zod';
import { slug, text, timestamp } from '../common';
import { nextCursor } from '../query';
import { serviceUrl } from '../url';

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

/**
 * A secret by the name of a variable of the workers' environment. The prefixes keep a caller from naming another secret, which
 * the forge would receive.
 */
export const forgeSecret = z
  .string()
  .regex(
    /^env:(?:GITHUB|GH|GITLAB|FORGE)_[A-Z0-9_]{1,100}$/,
    'must be env: and the name of a variable that begins with GITHUB_, GH_, GITLAB_ or FORGE_',
  );

/**
 * The same for what the API verifies webhooks with. It has these variables and no others of the workers' secrets
 * (`isWebhookSecret`).
 */
const webhookSecret = z
  .string()
  .regex(
    /^env:(?:GITHUB|GH|GITLAB|FORGE)_(?:[A-Z0-9_]{1,80}_)?WEBHOOK_SECRET(?:_[A-Z0-9_]{1,80})?$/,
    'must be env: and the name of a variable such as GITHUB_WEBHOOK_SECRET: begins with GITHUB_, GH_, GITLAB_ or FORGE_ and has WEBHOOK_SECRET',
  );

/** Of GitHub: what serves its REST API, beside which its web pages and its git are found. */
export const isGithubApi = (baseUrl: string): boolean => {
  if (!URL.canParse(baseUrl)) {
    return true;
  }
  const { hostname, pathname } = new URL(baseUrl);
  const path = pathname.replace(/\/+$/, '');
  return path.endsWith('/api/v3') || (path === '' && /^api\.(?:github\.com|[a-z0-9-]+\.ghe\.com)$/.test(hostname));
};

/** Where the pull requests and issues of a configured repository are. */
export const forgeConnection = z
  .strictObject({
    kind: forgeKind,
    repository: forgeRepository,
    /** GitHub's REST API, or the address of a GitLab; those of github.com and gitlab.com when absent. */
    baseUrl: serviceUrl.optional(),
    /** The token that workers send. */
    credential: forgeSecret,
    /** What webhooks of the forge are signed with; the API has it, workers do not need it. */
    webhookSecret: webhookSecret.optional(),
  })
  .superRefine(({ kind, repository, baseUrl }, context) => {
    if (kind === 'github' && repository.split('/').length !== 2) {
      context.addIssue({ code: 'custom', path: ['repository'], message: 'must be owner/name at GitHub' });
    }
    if (kind === 'github' && baseUrl !== undefined && !isGithubApi(baseUrl)) {
      const message = 'must be the REST API of GitHub: https://api.github.com, or https://<host>/api/v3';
      context.addIssue({ code: 'custom', path: ['baseUrl'], message });
    }
  })
  .meta({ id: 'ForgeConnection' });
export type ForgeConnection = z.infer<typeof forgeConnection>;

/** Whether the forge of a repository can be used, or why not; `unchecked` where no worker responded. */
export const forgeState = z
  .enum([
    ...(['connected', 'credential-missing', 'unauthorized', 'forbidden', 'not-found', 'invalid'] as const),
    ...(['rate-limited', 'unavailable', 'moved', 'refused-address', 'unchecked'] as const),
  ])
  .meta({ id: 'ForgeState' });

/** What a worker found that used the credential. */
export const forgeCheckResult = z.object({
  state: forgeState,
  /** The account of the token. */
  login: z.string().nullable(),
  /** Whether the token may push; `null` where the forge does not report it. */
  mayPush: z.boolean().nullable(),
  /** What is wrong, and what helps. */
  message: text(2_000).nullable(),
  checkedAt: timestamp,
});
export type ForgeCheckResult = z.infer<typeof forgeCheckResult>;

export const githubStatus = z
  .object({
    configured: z.boolean(),
    /** How to configure a forge where there is none. */
    remedy: z.string().nullable(),
    repositories: z.array(
      forgeCheckResult.extend({
        repo: slug,
        kind: forgeKind,
        repository: z.string(),
        baseUrl: z.string(),
        credential: z.string(),
      }),
    ),
    nextCursor,
  })
  .meta({ id: 'GithubStatus' });

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
  /** Whether it merges without conflicts; `null` where the forge has not found out, or a list does not report it. */
  mergeable: z.boolean().nullable(),
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
  /** How many comments it has, where the forge reports it. */
  comments?: number | undefined;
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

import { z } from 'zod';
import { objectName, slug, taskId, text, timestamp } from '../common';
import { forgeKind, forgePullRequest, pullRequestState } from './forge';

/** The rules of git-check-ref-format for a branch, and no leading dash, so that it is never an option. */
const branchName = text(200, 1).regex(
  /^(?![-/.@]$|[-/.])(?!.*(?:\.\.|\/\/|@\{|\/\.|\.lock(?:\/|$)))[^\s~^:?*[\\]+(?<![/.])$/u,
  'must be the name of a branch',
);

/** Absent fields: what the task says for a new pull request, and what it has for one that is there. */
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
  })
  .meta({ id: 'PullRequest' });
export type PullRequest = z.infer<typeof pullRequest>;

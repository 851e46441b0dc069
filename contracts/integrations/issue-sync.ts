import { z } from 'zod';
import { revision, slug, taskId, timestamp } from '../common';
import { listPage, nextCursor } from '../query';
import { forgeRepository } from './forge';

/** `inbound`: issues change tasks. `outbound`: tasks change issues. `none`: issues are left alone. */
export const issueSyncMode = z.enum(['inbound', 'outbound', 'bidirectional', 'none']).meta({ id: 'IssueSyncMode' });
export type IssueSyncMode = z.infer<typeof issueSyncMode>;

/** A configured repository with a forge: by its name, or by `owner/name` where one repository alone has that. */
export const syncedRepository = z.union([slug, forgeRepository]).meta({ id: 'SyncedRepository' });

const label = z
  .string()
  .regex(/^[^,\u0000-\u001f\u007f]{1,100}$/, 'must be labels of up to 100 characters, separated by commas');

/** The labels that an issue must all have, separated by commas. */
const labelFilter = z
  .string()
  .max(1_000)
  .transform((value) => value.split(',').map((one) => one.trim()))
  .pipe(z.array(label).max(10, 'must be at most 10 labels'))
  .transform((labels) => labels.join(','));

const pollIntervalMs = z.number().int().min(10_000).max(86_400_000);

export const defaultPollIntervalMs = 300_000;

export const issueSyncConfig = z
  .object({
    enabled: z.boolean(),
    /** The name of a configured repository; `null` while nothing is configured. */
    repo: slug.nullable(),
    /** What it is called at its forge; `null` when it has none any more. */
    repository: z.string().nullable(),
    syncMode: issueSyncMode,
    labelFilter: z.string().nullable(),
    pollIntervalMs: z.number().int(),
    /** Whether the open pull requests of tasks are read from the forge without a call. */
    pullRequests: z.boolean(),
    /** Whether comments of issues and tasks are synchronised too, as `syncMode` allows. */
    comments: z.boolean(),
    /** Comments of tasks are published from this moment on: when `comments` was set. */
    commentsSince: timestamp.nullable(),
    /** Where the forge sends its webhooks; `null` while nothing is configured. */
    webhookPath: z.string().nullable(),
    /** 0 while nothing is configured. */
    revision: z.number().int().min(0),
  })
  .meta({ id: 'IssueSyncConfig' });
export type IssueSyncConfig = z.infer<typeof issueSyncConfig>;

export const issueSyncConfigPut = z
  .strictObject({
    enabled: z.boolean(),
    repo: syncedRepository,
    syncMode: issueSyncMode.default('inbound'),
    labelFilter: labelFilter.nullable().default(null),
    pollIntervalMs: pollIntervalMs.default(defaultPollIntervalMs),
    pullRequests: z.boolean().default(true),
    comments: z.boolean().default(false),
    expectedRevision: revision.optional(),
  })
  .refine(({ enabled, syncMode, pullRequests }) => !enabled || syncMode !== 'none' || pullRequests, {
    path: ['syncMode'],
    message: 'leaves nothing to synchronise: choose another mode, or set pullRequests',
  })
  .meta({ id: 'IssueSyncConfigPut' });

/** Which synchronisation; the only one when absent. */
export const issueSyncQuery = z.strictObject({ repo: syncedRepository.optional() }).meta({ id: 'IssueSyncQuery' });
export const issueSyncRequest = z.strictObject({ repo: syncedRepository.optional() }).meta({ id: 'IssueSyncRequest' });

const count = z.number().int().min(0);

/** What one round of a synchronisation has done; `errors` is what its mappings say is wrong. */
export const issueSyncReport = z
  .object({
    /** Tasks that were created for issues. */
    imported: count,
    /** Pairs that were made equal again. */
    updated: count,
    /** Issues that were created for tasks. */
    exported: count,
    errors: count,
    lastSyncAt: timestamp,
  })
  .meta({ id: 'IssueSyncReport' });
export type IssueSyncReport = z.infer<typeof issueSyncReport>;

/** Why a round ended early, e.g. `FORGE_UNAUTHORIZED`; `retryAt`: when the forge lets us come back. */
export const issueSyncFailure = z
  .object({ code: z.string(), message: z.string(), at: timestamp, retryAt: timestamp.nullable() })
  .meta({ id: 'IssueSyncFailure' });
export type IssueSyncFailure = z.infer<typeof issueSyncFailure>;

/** The most pull requests that a status names. */
export const maxPullRequestProblems = 10;

/** Why the pull request of a task could not be read from its forge; it is tried again with the next poll. */
const pullRequestProblem = z
  .object({ taskId, number: z.number().int().min(1), code: z.string(), message: z.string(), at: timestamp })
  .meta({ id: 'PullRequestProblem' });
export type PullRequestProblem = z.infer<typeof pullRequestProblem>;

export const issueSyncStatus = z
  .object({
    enabled: z.boolean(),
    repo: slug.nullable(),
    /** `failing`: the last round ended early. `waiting`: until `failure.retryAt`. */
    state: z.enum(['disabled', 'pending', 'synced', 'failing', 'waiting']),
    lastSyncAt: timestamp.nullable(),
    /** Of the last round that came to its end. */
    lastReport: issueSyncReport.nullable(),
    failure: issueSyncFailure.nullable(),
    mappings: count,
    errors: count,
    /** How many open pull requests of tasks could not be read the last time. */
    pullRequestErrors: count,
    /** Why, of those that were not read for the longest time. */
    pullRequestProblems: z.array(pullRequestProblem).max(maxPullRequestProblems),
  })
  .meta({ id: 'IssueSyncStatus' });
export type IssueSyncStatus = z.infer<typeof issueSyncStatus>;

/** An issue and the task that it belongs to. Once written it stays, so that neither is created again. */
export const issueMapping = z
  .object({
    taskId,
    repo: slug,
    /** What the repository is called at its forge. */
    repository: z.string(),
    /** `null` while the issue of a task is being created. */
    issueNumber: z.number().int().min(1).nullable(),
    url: z.string().nullable(),
    /** Which of the two came first. */
    origin: z.enum(['issue', 'task']),
    /** `detached`: one of the two is gone, or the task names the issue no more; nothing is synchronised. */
    state: z.enum(['creating', 'linked', 'detached']),
    syncedAt: timestamp.nullable(),
    /** The last time that both had changed, and in which fields one was overwritten. */
    conflict: z.object({ fields: z.array(z.string()), at: timestamp }).nullable(),
    /** What could not be done; it is tried again when the issue changes, and every five minutes unless `detached`. */
    problem: z.object({ code: z.string(), message: z.string(), at: timestamp }).nullable(),
  })
  .meta({ id: 'IssueMapping' });
export type IssueMapping = z.infer<typeof issueMapping>;

export const issueMappingQuery = z
  .strictObject({ repo: syncedRepository.optional(), ...listPage(100, 500) })
  .meta({ id: 'IssueMappingQuery' });
export const issueMappingPage = z
  .object({ mappings: z.array(issueMapping), nextCursor })
  .meta({ id: 'IssueMappingPage' });

/** The answer to a webhook: what it reports as changed is read from the forge. */
export const issueWebhookReceipt = z
  .object({
    accepted: z.literal(true),
    /** The delivery had been received before. */
    duplicate: z.boolean(),
  })
  .meta({ id: 'IssueWebhookReceipt' });

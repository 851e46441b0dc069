import { localWorkspace } from '../../../contracts/common';
import {
  defaultPollIntervalMs,
  issueMappingPage,
  issueMappingQuery,
  type IssueSyncConfig,
  issueSyncConfig,
  issueSyncConfigPut,
  issueSyncQuery,
  issueSyncReport,
  issueSyncRequest,
  type IssueSyncStatus,
  issueSyncStatus,
  maxPullRequestProblems,
  type PullRequestProblem,
} from '../../../contracts/integrations/issue-sync';
import { scopeOf } from '../../../domain/issue-sync/scope';
import { conflict } from '../../../platform/errors/app-error';
import type { HttpContext } from '../../../platform/http/context';
import type { Routes } from '../../../platform/http/routing/routes';
import { Page } from '../../../platform/lists/page';
import type { IssueSyncRecord } from '../../../stores/integrations/issue-sync-store';
import type { PullRequestRecord } from '../../../stores/integrations/pull-request-store';
import { disabledError } from '../../../workflows/issue-sync/client';
import type { WorkflowContext } from '../../context';
import { assertRevision, statedRevision, withRevision } from '../../revisions';
import type { RepositoryWithForge } from '../with-forge';
import { issueWebhookRoutes } from './routes.webhooks';
import { repositoryNamed, syncNamed } from './selection';

const tag = 'github';
const type = 'issue-syncs';

export type IssueSyncContext = Pick<
  WorkflowContext,
  | ('authFailures' | 'issueMappings' | 'issueSyncLauncher' | 'issueSyncs')
  | ('log' | 'now' | 'pullRequests' | 'repositories' | 'workspaceId')
>;

/** Issues of a repository's forge and the tasks that belong to them. */
export function issueSyncRoutes(routes: Routes, context: IssueSyncContext): void {
  const { issueMappings, issueSyncLauncher, issueSyncs, now, pullRequests, repositories, workspaceId } = context;
  issueWebhookRoutes(routes, context);

  const present = async (ctx: HttpContext, sync: IssueSyncRecord | undefined): Promise<IssueSyncConfig> => {
    if (!sync) {
      return { ...unconfigured, repo: null, repository: null, webhookPath: null, revision: 0 };
    }
    const {
      id: repo,
      revision,
      updatedBy: _updatedBy,
      createdAt: _createdAt,
      updatedAt: _updatedAt,
      ...fields
    } = withRevision(ctx, type, sync);
    const repository = (await repositories.find(repo))?.forge?.repository ?? null;
    const whose = workspaceId === localWorkspace ? '' : `/workspaces/${workspaceId}`;
    const webhookPath = `/api${whose}/github/webhooks/${repo}`;
    return { ...optional, ...fields, repo, repository, webhookPath, revision };
  };

  /** Refuses a second synchronisation of issues of this name, which is all that a task records of its issue. */
  async function assertAlone({ name, forge }: RepositoryWithForge): Promise<void> {
    const others = (await issueSyncs.configs.list()).filter(
      ({ id, enabled, syncMode }) => enabled && syncMode !== 'none' && id !== name,
    );
    for (const { id } of others) {
      const other = (await repositories.find(id))?.forge;
      if (other?.repository.toLowerCase() === forge.repository.toLowerCase()) {
        const message = `The issues of ${forge.repository} are synchronised with ${id}. Disable that first.`;
        throw conflict(message, { repo: name, other: id }, 'ISSUE_SYNC_DUPLICATE');
      }
    }
  }

  routes.add(
    {
      method: 'get',
      path: '/github/sync/config',
      operationId: 'getIssueSyncConfig',
      summary: 'Read how issues of a repository are synchronised with tasks',
      tag,
      permission: 'settings:read',
      query: issueSyncQuery,
      response: issueSyncConfig,
    },
    async ({ query }, ctx) => present(ctx, await syncNamed(context, query.repo, 'repo')),
  );

  routes.add(
    {
      method: 'put',
      path: '/github/sync/config',
      operationId: 'putIssueSyncConfig',
      summary: 'Set how issues of a repository are synchronised with tasks',
      tag,
      permission: 'settings:write',
      body: issueSyncConfigPut,
      response: issueSyncConfig,
      errors: [409, 503],
      audit: (_request, { repo, enabled, syncMode, labelFilter, pullRequests, comments }) => ({
        action: 'issue-sync.update',
        resource: repo ?? '',
        details: { enabled, syncMode, labelFilter, pullRequests, comments },
      }),
    },
    async ({ body: { repo: named, expectedRevision: bodyRevision, ...fields }, auth, header }, ctx) => {
      // One whose repository is gone, or has no forge any more, can still be disabled.
      const disabled = fields.enabled ? undefined : await issueSyncs.configs.get(named);
      const repository = disabled ? undefined : await repositoryNamed(context, named, 'repo');
      if (fields.enabled && fields.syncMode !== 'none' && repository) {
        await assertAlone(repository);
      }
      const name = disabled?.id ?? repository?.name ?? named;
      const expected = await statedRevision(
        { type, id: name, current: () => issueSyncs.configs.get(name) },
        { header, bodyRevision },
      );
      const stored = await issueSyncs.configs.change(name, (current) => {
        assertRevision('issue sync', current ?? { id: name, revision: 0 }, { expectedRevision: expected });
        // What was written before comments were synchronised is not published.
        const since = current?.comments === true ? current.commentsSince : now().toISOString();
        return { ...fields, commentsSince: fields.comments ? (since ?? null) : null, updatedBy: auth.actor };
      });
      await issueSyncLauncher.wake(name);
      return present(ctx, stored);
    },
  );

  routes.add(
    {
      method: 'post',
      path: '/github/sync',
      operationId: 'syncIssues',
      summary: 'Start a round of the synchronisation of issues now',
      tag,
      permission: 'task:write',
      body: issueSyncRequest,
      response: issueSyncReport,
      errors: [409, 502, 503],
      audit: ({ body }, { imported, updated, exported, errors }) => ({
        action: 'issue-sync.run',
        resource: body.repo,
        details: { imported, updated, exported, errors },
      }),
    },
    async ({ body, auth }) => {
      const sync = await syncNamed(context, body.repo, 'repo');
      if (sync?.enabled !== true) {
        throw sync ? disabledError(sync.id) : notConfigured();
      }
      return issueSyncLauncher.syncNow(sync.id, auth.actor);
    },
  );

  routes.add(
    {
      method: 'get',
      path: '/github/sync/status',
      operationId: 'getIssueSyncStatus',
      summary: 'Read what the synchronisation of issues has done, and what is wrong with it',
      tag,
      permission: 'task:read',
      query: issueSyncQuery,
      response: issueSyncStatus,
    },
    async ({ query }): Promise<IssueSyncStatus> => {
      const sync = await syncNamed(context, query.repo, 'repo');
      if (!sync) {
        const none = { lastSyncAt: null, lastReport: null, failure: null, mappings: 0, errors: 0 };
        const unread = { pullRequestErrors: 0, pullRequestProblems: [] };
        return { enabled: false, repo: null, state: 'disabled', ...none, ...unread };
      }
      const { id: repo, enabled } = sync;
      const { lastReport = null, failure = null } = await issueSyncs.progressOf(repo);
      const forge = (await repositories.find(repo))?.forge;
      const counts = forge
        ? await Promise.all([issueMappings.count(scopeOf(forge)), issueMappings.countFailed(scopeOf(forge))])
        : [0, 0];
      const [mappings = 0, errors = 0] = counts;
      const unread = await pullRequests.unread(repo, maxPullRequestProblems);
      const state = enabled ? stateOf({ lastReport, failure }, now()) : 'disabled';
      return {
        enabled,
        repo,
        state,
        lastSyncAt: lastReport?.lastSyncAt ?? null,
        lastReport,
        failure,
        mappings,
        errors,
        pullRequestErrors: unread.total,
        pullRequestProblems: unread.records.flatMap(problemOf),
      };
    },
  );

  routes.add(
    {
      method: 'get',
      path: '/github/sync/mappings',
      operationId: 'listIssueMappings',
      summary: 'List which issue belongs to which task, and what is wrong between them',
      tag,
      permission: 'task:read',
      query: issueMappingQuery,
      response: issueMappingPage,
    },
    async ({ query: { repo, ...page } }) => {
      const sync = await syncNamed(context, repo, 'repo');
      const forge = sync && (await repositories.find(sync.id))?.forge;
      const found = forge ? await issueMappings.list(scopeOf(forge), page) : new Page([], undefined);
      return found.answer({ mappings: found.items });
    },
  );
}

/** What configurations have that are older than these settings. */
const optional = { pullRequests: true, comments: false, commentsSince: null };

const unconfigured = {
  enabled: false,
  syncMode: 'inbound',
  labelFilter: null,
  pollIntervalMs: defaultPollIntervalMs,
  ...optional,
} as const;

/** Why a pull request could not be read. */
const problemOf = ({ _id: taskId, pull, unread }: PullRequestRecord): PullRequestProblem[] =>
  pull && unread ? [{ taskId, number: pull.number, ...unread }] : [];

const notConfigured = (): Error =>
  conflict(
    'No repository has its issues synchronised. Configure one with PUT /api/github/sync/config.',
    { enabled: false },
    'ISSUE_SYNC_DISABLED',
  );

function stateOf(
  { lastReport, failure }: Pick<IssueSyncStatus, 'lastReport' | 'failure'>,
  now: Date,
): IssueSyncStatus['state'] {
  if (failure) {
    return failure.retryAt !== null && failure.retryAt > now.toISOString() ? 'waiting' : 'failing';
  }
  return lastReport ? 'synced' : 'pending';
}

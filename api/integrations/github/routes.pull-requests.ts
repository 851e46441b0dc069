import { z } from 'zod';
import { taskId } from '../../../contracts/common';
import { pullRequest, pullRequestCreate } from '../../../contracts/integrations/pull-request';
import type { Routes } from '../../../platform/http/routing/routes';
import { operateOnPullRequest, pullRequestOf, type PullRequestsContext } from './pull-requests';

const tag = 'github';
const taskParams = z.strictObject({ taskId });

const operations = [
  {
    kind: 'open',
    operationId: 'openPullRequest',
    summary: 'Open a pull request for review: reopen a closed one, mark a draft as ready',
  },
  {
    kind: 'refresh',
    operationId: 'refreshPullRequest',
    summary: 'Read a pull request from its forge: state, checks, reviews, comments of reviewers',
  },
] as const;

/** The pull requests of tasks, at GitHub or GitLab. */
export function pullRequestRoutes(routes: Routes, context: PullRequestsContext): void {
  routes.add(
    {
      method: 'post',
      path: '/github/pr',
      operationId: 'createPullRequest',
      summary: 'Create the pull request of a task from its work, or update the open one',
      tag,
      permission: 'task:write',
      body: pullRequestCreate,
      response: pullRequest,
      status: 201,
      errors: [404, 409, 503],
    },
    ({ body: { taskId: id, ...request }, auth }) =>
      operateOnPullRequest(context, id, { kind: 'publish', actor: auth.actor, ...request }),
  );

  for (const { kind, operationId, summary } of operations) {
    routes.add(
      {
        method: 'post',
        path: `/github/pr/:taskId/${kind}`,
        operationId,
        summary,
        tag,
        permission: 'task:write',
        params: taskParams,
        response: pullRequest,
        errors: [404, 409, 503],
      },
      ({ params, auth }) => operateOnPullRequest(context, params.taskId, { kind, actor: auth.actor }),
    );
  }

  routes.add(
    {
      method: 'get',
      path: '/github/pr/:taskId',
      operationId: 'getPullRequest',
      summary: 'Read the pull request of a task as it was found last',
      tag,
      permission: 'task:read',
      params: taskParams,
      response: pullRequest,
      errors: [404],
    },
    ({ params }) => pullRequestOf(context, params.taskId),
  );
}

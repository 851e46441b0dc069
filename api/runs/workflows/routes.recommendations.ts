import {
  countedRuns,
  launchRecommendationQuery,
  launchRecommendations,
} from '../../../contracts/runs/workflows/recommendation';
import { rightsOf } from '../../../domain/workflows/access';
import { type Evidence, recommend } from '../../../domain/workflows/recommend';
import { assertFound } from '../../../platform/errors/app-error';
import type { Routes } from '../../../platform/http/routing/routes';
import type { WorkflowContext } from '../../context';
import { tag } from './operations';

/** Which workflow to run, by how their runs have ended (specification 1, 10.20). */
export function workflowRecommendationRoutes(
  routes: Routes,
  { workflows, workflowRuns, board }: Pick<WorkflowContext, 'workflows' | 'workflowRuns' | 'board'>,
): void {
  routes.add(
    {
      tag,
      permission: 'workflow:read',
      method: 'get',
      path: '/workflows/launch-recommendations',
      operationId: 'listLaunchRecommendations',
      summary: 'List workflows that the caller may run, by how their runs have ended',
      query: launchRecommendationQuery,
      response: launchRecommendations,
      errors: [404],
    },
    async ({ query: { taskId, minSamples, limit, ...query }, auth }) => {
      const task = taskId === undefined ? undefined : (await board.get(taskId))?.task;
      if (taskId !== undefined) {
        assertFound(task, 'task', taskId);
      }
      const taskType = task?.type ?? query.taskType;
      const runnable = (await workflows.list()).filter(({ access }) => rightsOf(access, auth).execute);
      const evidence: Evidence[] = [];
      for (const { id, definition, version } of runnable) {
        const outcomes = await workflowRuns.outcomes(id, countedRuns);
        evidence.push({ workflowId: id, name: definition.name, version, outcomes });
      }
      const recommendations = recommend(evidence, { taskType, minSamples }).slice(0, limit);
      const ofType = taskType === undefined ? '' : ` for a task of the type ${taskType}`;
      const reason =
        runnable.length === 0
          ? 'There is no workflow that you may run.'
          : `No workflow that you may run has ${minSamples} ended runs${ofType} of which one succeeded.`;
      return { taskType: taskType ?? null, recommendations, reason: recommendations.length > 0 ? null : reason };
    },
  );
}

import { z } from 'zod';
import {
  costPrediction,
  costPredictionRequest,
  predictionAccuracy,
  predictionAccuracyQuery,
  predictionStats,
} from '../../../contracts/knowledge/cost-prediction';
import type { SwitchableFeature } from '../../../contracts/settings/settings';
import type { Task } from '../../../contracts/tasks/task';
import { assertFound } from '../../../platform/errors/app-error';
import type { Routes } from '../../../platform/http/routing/routes';
import { searchPage } from '../../../platform/lists/search';
import { comparedPredictions } from '../../../stores/knowledge/cost-prediction-store';
import type { ApiContext } from '../../context';
import { listAllTasks } from '../../tasks/tasks/list-all-tasks';
import { compareWithActual, statsOf } from './accuracy';
import { finishedTasks, likenessOf } from './finished';
import { predict } from './predict';

const tag = 'cost-prediction';
const read = { method: 'get' as const, tag, permission: 'report:read' };

/** Predicted costs of tasks, and how accurate earlier predictions were (specification 1, Registries and analysis). */
export function costPredictionRoutes(
  routes: Routes,
  { board, telemetry, costPredictions }: Pick<ApiContext, 'board' | 'telemetry' | 'costPredictions'>,
): void {
  const tasksById = (): Map<string, Task> => new Map(listAllTasks(board).map(({ task }) => [task.id, task]));

  routes.add(
    {
      method: 'post',
      path: '/cost-prediction/predict',
      operationId: 'predictCost',
      summary: 'Predict the cost of a task from similar finished tasks',
      tag,
      permission: 'task:write',
      body: costPredictionRequest,
      response: costPrediction,
      errors: [404, 409],
    },
    async ({ body: { taskId, type = 'code', description, ...likeness } }) => {
      const predictedAt = new Date().toISOString();
      if (taskId === undefined) {
        const task = { ...likeness, type, descriptionLength: description?.length };
        return { ...predict(task, await finishedTasks({ board, telemetry })), predictedAt };
      }
      const boardTask = await board.get(taskId);
      assertFound(boardTask, 'task', taskId);
      const { task } = boardTask;
      const prediction = predict(likenessOf(task), await finishedTasks({ board, telemetry }, taskId));
      const { estimatedCost: predictedCost, confidence } = prediction;
      // Once a task has cost something, its estimate is no prediction any more.
      if (predictedCost !== null && task.actualCost === undefined && task.status !== 'done') {
        await costPredictions.keep({ taskId, predictedCost, confidence, predictedAt });
      }
      return { ...prediction, predictedAt };
    },
  );

  routes.add(
    {
      ...read,
      path: '/cost-prediction/accuracy',
      setting: 'analyticsEnabled' satisfies SwitchableFeature,
      operationId: 'listPredictionAccuracy',
      summary: 'List predictions with the actual costs, newest first',
      query: predictionAccuracyQuery,
      response: z.array(predictionAccuracy),
    },
    ({ query }) => {
      const tasks = tasksById();
      return searchPage(
        {
          read: (part) => costPredictions.list(part),
          hitOf: (prediction) => compareWithActual([prediction], tasks)[0],
          positionOf: ({ taskId, predictedAt }) => ({ key: predictedAt, id: taskId }),
          most: comparedPredictions,
        },
        query,
      );
    },
  );

  routes.add(
    {
      ...read,
      path: '/cost-prediction/accuracy/stats',
      setting: 'analyticsEnabled' satisfies SwitchableFeature,
      operationId: 'getPredictionStats',
      summary: 'Read prediction accuracy statistics',
      response: predictionStats,
    },
    async () => {
      const predictions = await costPredictions.newest();
      return statsOf(predictions.length, compareWithActual(predictions, tasksById()));
    },
  );
}

import { z } from 'zod';
import {
  costPrediction,
  costPredictionRequest,
  predictionAccuracy,
  predictionAccuracyQuery,
  predictionStats,
} from '../../contracts/cost-prediction';
import type { Task } from '../../contracts/task';
import type { SwitchableFeature } from '../../contracts/settings';
import { assertFound } from '../../platform/errors/app-error';
import type { Routes } from '../../platform/http/routes';
import { searchPage } from '../../platform/lists/search';
import { comparedPredictions } from '../../stores/cost-prediction-store';
import type { ApiContext } from '../context';
import { everyTask } from '../tasks/every-task';
import { compareWithActual, statsOf } from './accuracy';
import { finishedTasks, likenessOf } from './finished';
import { predict } from './predict';

const tag = 'cost-prediction';
const read = { method: 'get' as const, tag, permission: 'report:read' };

/** What tasks will take, and how well that was known before (specification 1, Registries and analysis). */
export function costPredictionRoutes(
  routes: Routes,
  { board, telemetry, costPredictions }: Pick<ApiContext, 'board' | 'telemetry' | 'costPredictions'>,
): void {
  const tasksById = (): Map<string, Task> => new Map(everyTask(board).map(({ task }) => [task.id, task]));

  routes.add(
    {
      method: 'post',
      path: '/cost-prediction/predict',
      operationId: 'predictCost',
      summary: 'Predict what a task takes, by what finished tasks like it took',
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
      const found = await board.get(taskId);
      assertFound(found, 'task', taskId);
      const { task } = found;
      const prediction = predict(likenessOf(task), await finishedTasks({ board, telemetry }, taskId));
      const { estimatedCost: predictedCost, confidence } = prediction;
      // Once a task has cost something, what is said about it is no prediction any more.
      if (predictedCost !== null && task.actualCost === undefined && task.status !== 'done')
        await costPredictions.keep({ taskId, predictedCost, confidence, predictedAt });
      return { ...prediction, predictedAt };
    },
  );

  routes.add(
    {
      ...read,
      path: '/cost-prediction/accuracy',
      setting: 'analyticsEnabled' satisfies SwitchableFeature,
      operationId: 'listPredictionAccuracy',
      summary: 'Compare predictions with what the tasks cost in the end, the newest first',
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
      summary: 'How good predictions were on the whole',
      response: predictionStats,
    },
    async () => {
      const predictions = await costPredictions.newest();
      return statsOf(predictions.length, compareWithActual(predictions, tasksById()));
    },
  );
}

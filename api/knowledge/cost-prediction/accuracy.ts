import type { PredictionAccuracy, PredictionStats } from '../../../contracts/knowledge/cost-prediction';
import type { Task } from '../../../contracts/tasks/task';
import type { KeptPrediction } from '../../../stores/knowledge/cost-prediction-store';

/** The predictions whose tasks are done and have cost something, beside what they cost. */
export function compareWithActual(
  predictions: readonly KeptPrediction[],
  tasks: ReadonlyMap<string, Pick<Task, 'status' | 'actualCost'>>,
): PredictionAccuracy[] {
  return predictions.flatMap((prediction) => {
    const task = tasks.get(prediction.taskId);
    if (task?.status !== 'done' || task.actualCost === undefined) {
      return [];
    }
    const { predictedCost } = prediction;
    const { actualCost } = task;
    const error = predictedCost - actualCost;
    const larger = Math.max(predictedCost, actualCost);
    return [{ ...prediction, actualCost, error, accuracy: larger === 0 ? 1 : 1 - Math.abs(error) / larger }];
  });
}

const mean = (values: readonly number[]): number | null =>
  values.length === 0 ? null : values.reduce((sum, value) => sum + value, 0) / values.length;

export const statsOf = (predictions: number, compared: readonly PredictionAccuracy[]): PredictionStats => ({
  predictions,
  compared: compared.length,
  meanAccuracy: mean(compared.map(({ accuracy }) => accuracy)),
  meanError: mean(compared.map(({ error }) => error)),
});

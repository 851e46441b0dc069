import { recoveryCancel, runRecovery, type RunRecovery } from '../../contracts/recovery';
import { assertFound, conflict } from '../../platform/errors/app-error';
import type { Routes } from '../../platform/http/routes';
import type { RunsContext } from './context';
import { ofTask } from './parameters';

/** States in which nothing has been launched yet. */
const cancellable: RunRecovery['state'][] = ['scheduled', 'launching'];

const notCancellable = (recovery: RunRecovery) =>
  conflict(
    `The recovery is ${recovery.state}; only one that waits or is being launched can be cancelled.`,
    { state: recovery.state, recovery },
    'RECOVERY_NOT_CANCELLABLE',
  );

/** What follows a run that failed. */
export function recoveryRoutes(routes: Routes, { recoveries, launcher }: RunsContext): void {
  routes.add(
    {
      method: 'get',
      path: '/agents/:taskId/recovery',
      operationId: 'getRunRecovery',
      summary: 'Read the latest recovery of the task, or null',
      tag: 'runs',
      permission: 'agent:read',
      params: ofTask,
      response: runRecovery.nullable(),
    },
    async ({ params }) => (await recoveries.latest(params.taskId)) ?? null,
  );

  routes.add(
    {
      method: 'post',
      path: '/agents/:taskId/recovery/cancel',
      operationId: 'cancelRunRecovery',
      summary: 'Cancel what follows exactly this failed attempt, before it is launched',
      tag: 'runs',
      permission: 'task:write',
      params: ofTask,
      body: recoveryCancel,
      response: runRecovery,
      errors: [409, 503],
    },
    async ({ params: { taskId }, body: { attemptId }, auth }) => {
      const latest = await recoveries.latest(taskId);
      assertFound(latest, 'recovery of task', taskId);
      if (latest.attemptId !== attemptId) {
        throw conflict(
          'This is not the attempt that is recovered from now.',
          { attemptId, recovery: latest },
          'STALE_ATTEMPT',
        );
      }
      if (!cancellable.includes(latest.state)) throw notCancellable(latest);
      const recovery = await launcher.cancelRecovery(attemptId, auth.actor);
      if (recovery.state !== 'cancelled') throw notCancellable(recovery);
      return recovery;
    },
  );
}

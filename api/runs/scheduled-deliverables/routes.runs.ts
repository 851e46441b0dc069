import { z } from 'zod';
import {
  type DeliverableRun,
  deliverableRun,
  deliverableRunQuery,
  deliverableRunReport,
  scheduledDeliverableId,
} from '../../../contracts/runs/schedules/scheduled-deliverable';
import { assertFound, conflict, validationError } from '../../../platform/errors/app-error';
import type { Routes } from '../../../platform/http/routing/routes';
import { compact } from '../../../platform/json/compact';
import { operationTime } from '../../../platform/operations/operation';
import { type DeliverableRunRecord, presentRun } from '../../../stores/runs/schedules/scheduled-deliverable-run-store';
import { newItemId } from '../../tasks/tasks/items';
import { createDeliverableOperations, type ScheduledDeliverableContext } from './operations';

const tag = 'scheduled-deliverables';
const path = '/deliverables/:id/runs';
const idParams = z.strictObject({ id: scheduledDeliverableId });

/** Runs of scheduled deliverables: those that were started, and those that are reported. */
export function deliverableRunRoutes(routes: Routes, context: ScheduledDeliverableContext): void {
  const { deliverableRuns } = context;
  const { find } = createDeliverableOperations(context);

  routes.add(
    {
      tag,
      permission: 'task:read',
      method: 'get',
      path,
      operationId: 'listScheduledDeliverableRuns',
      summary: 'List runs of a scheduled deliverable, newest first',
      params: idParams,
      query: deliverableRunQuery,
      response: z.array(deliverableRun),
    },
    async ({ params: { id }, query }) => {
      await find(id);
      return (await deliverableRuns.ofDeliverable(id, query)).map(presentRun);
    },
  );

  routes.add(
    {
      tag,
      permission: 'task:write',
      method: 'post',
      path,
      operationId: 'reportScheduledDeliverableRun',
      summary: 'Report a run of a scheduled deliverable: one that is due, or one of your own',
      params: idParams,
      body: deliverableRunReport,
      response: deliverableRun,
      status: 201,
      errors: [404, 409],
      audit: ({ params }, run) => ({
        action: 'scheduled-deliverable.report',
        resource: params.id,
        details: { runId: run.id, status: run.status },
      }),
    },
    async ({ params: { id: deliverableId }, body: { runId, ...report }, auth }): Promise<DeliverableRun> => {
      await find(deliverableId);
      if (report.status === 'success' && report.error !== undefined) {
        throw validationError([{ path: 'error', message: 'does not belong to a success' }]);
      }
      const endedAt = operationTime().toISOString();
      const end = { ...compact(report), status: report.status, endedAt, reportedBy: auth.actor };
      if (runId !== undefined) {
        return endDue(deliverableId, runId, end);
      }
      const run: DeliverableRunRecord = {
        ...{ deliverableId, trigger: 'report', startedBy: auth.actor, taskId: null, attemptId: null, workflow: null },
        startedAt: new Date(Date.parse(endedAt) - (report.durationMs ?? 0)).toISOString(),
        ...end,
        _id: newItemId('recurring_run'),
      };
      return presentRun(await deliverableRuns.begin(run));
    },
  );

  /** @throws AppError 404; 409 for a run that is not due, unless this very report has ended it */
  async function endDue(deliverableId: string, runId: string, end: Partial<DeliverableRunRecord>) {
    const run = await deliverableRuns.get(runId);
    const own = run?.deliverableId === deliverableId ? run : undefined;
    assertFound(own, 'run', runId);
    const ended = await deliverableRuns.change(runId, 'due', end);
    const current = ended ?? (await deliverableRuns.get(runId));
    assertFound(current, 'run', runId);
    if (!ended && (current.endedAt !== end.endedAt || current.reportedBy !== end.reportedBy)) {
      throw conflict('The run is not due.', { resourceType: 'run', resourceId: runId, current: presentRun(current) });
    }
    return presentRun(current);
  }
}

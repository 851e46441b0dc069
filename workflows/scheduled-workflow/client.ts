import { randomUUID } from 'node:crypto';
import type { Client } from '@temporalio/client';
import type { WorkflowDefinition, WorkflowSchedule } from '../../contracts/runs/workflows/definition';
import { AppError } from '../../platform/errors/app-error';
import type { Log } from '../../platform/log/log';
import { dropSchedule, ensureSchedule, tryOutSchedule } from '../../platform/temporal/ensure-schedule';
import { checkSchedule } from '../clients/check-schedule';
import { withinDeadline } from '../clients/deadline';
import { workflowSchedule, workflowScheduleId } from './messages';

const pending = () =>
  new AppError('SCHEDULE_PENDING', {
    status: 503,
    message: 'Temporal did not respond in time. Try again.',
    details: { retryAfterMs: 5_000 },
  });

/** The Schedules of workflows, which follow the definitions. */
export function createWorkflowSchedules(client: Client, log: Log) {
  const within = <T>(call: () => Promise<T>) => withinDeadline(client, { pending }, call);
  return {
    /** @throws AppError 400 when Temporal cannot read the times or they never come, 503 */
    async check(schedule: WorkflowSchedule): Promise<void> {
      const tried = workflowSchedule({ id: `check-${randomUUID()}`, schedule, revision: 0 });
      await checkSchedule('schedule.cron', () => within(() => tryOutSchedule(client, tried)));
    },

    /** Makes the Schedule match the definition; a failure is mended by the workers, which compare both every minute. */
    async follow(record: { id: string; definition: WorkflowDefinition; revision: number }): Promise<void> {
      const { id, revision } = record;
      const { schedule } = record.definition;
      await within(() =>
        schedule
          ? ensureSchedule(client, workflowSchedule({ id, schedule, revision }))
          : dropSchedule(client, workflowScheduleId(id)),
      ).catch((error: unknown) => log.warn({ err: error, id }, 'workflow schedule update deferred'));
    },

    async drop(id: string): Promise<void> {
      await within(() => dropSchedule(client, workflowScheduleId(id))).catch((error: unknown) =>
        log.warn({ err: error, id }, 'workflow schedule removal deferred'),
      );
    },
  };
}
export type WorkflowSchedules = ReturnType<typeof createWorkflowSchedules>;

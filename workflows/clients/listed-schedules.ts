import type { Client } from '@temporalio/client';
import type { Log } from '../../platform/log/log';
import { dropSchedule, ensureSchedule, type KeptSchedule } from '../../platform/temporal/ensure-schedule';
import { workspaceWorkflow } from '../workspace-ids';

/** The notes of the Schedules of a workspace, by the ids that they have there. */
export type ListedSchedules = ReadonlyMap<string, string | undefined>;

/**
 * Lists the Schedules of all workspaces at once: a server lists those of a whole namespace, whichever of them are asked for.
 *
 * @param client of `local`
 * @returns those of a workspace
 */
export async function listSchedules(client: Client): Promise<(workspaceId: string) => ListedSchedules> {
  const byWorkspace = new Map<string, Map<string, string | undefined>>();
  for await (const { scheduleId, state } of client.schedule.list()) {
    const { workspaceId, id } = workspaceWorkflow(scheduleId);
    const listed = byWorkspace.get(workspaceId) ?? new Map<string, string | undefined>();
    byWorkspace.set(workspaceId, listed.set(id, state.note));
  }
  return (workspaceId) => byWorkspace.get(workspaceId) ?? new Map();
}

interface ReconciledSchedules {
  /** As they were before the records were read: a Schedule is made after its record, so that one without a record is stale. */
  listed: ListedSchedules;
  /** Whether a Schedule follows a record of the kind that is reconciled. */
  isOfKind: (scheduleId: string) => boolean;
  /** What there is to be, of all records of the kind. */
  expected: readonly KeptSchedule[];
  log: Log;
}

/** Makes Schedules match the records that they follow: one may be missing or stale after a crash between the two writes. */
export async function reconcileSchedules(
  client: Client,
  { listed, isOfKind, expected, log }: ReconciledSchedules,
): Promise<void> {
  const expectedIds = new Set(expected.map(({ scheduleId }) => scheduleId));
  for (const scheduleId of [...listed.keys()].filter((id) => isOfKind(id) && !expectedIds.has(id))) {
    await dropSchedule(client, scheduleId);
  }
  for (const schedule of expected.filter(({ scheduleId, note }) => listed.get(scheduleId) !== note)) {
    await ensureSchedule(client, schedule).catch((error: unknown) =>
      log.warn({ err: error, scheduleId: schedule.scheduleId }, 'schedule creation failed'),
    );
  }
}

import {
  type Client,
  ScheduleAlreadyRunning,
  ScheduleNotFoundError,
  ScheduleOverlapPolicy,
  type ScheduleSpec,
} from '@temporalio/client';

/** A Schedule that follows a record. */
export interface KeptSchedule {
  scheduleId: string;
  spec: ScheduleSpec;
  paused: boolean;
  /** States which version of the record it was made from. */
  note: string;
  action: { workflowType: string; taskQueue: string; args: [string]; staticSummary: string };
  /** What becomes of a start while the one before runs; it is skipped when absent. */
  overlap?: ScheduleOverlapPolicy;
  /** What is missed for longer is not made good; ten minutes when absent. */
  catchUpMinutes?: number;
}

const optionsOf = ({ scheduleId, spec, paused, note, action, ...policies }: KeptSchedule) => ({
  spec,
  policies: {
    overlap: policies.overlap ?? ScheduleOverlapPolicy.SKIP,
    catchupWindow: (policies.catchUpMinutes ?? 10) * 60_000,
  },
  state: { paused, note },
  action: { ...action, type: 'startWorkflow' as const, workflowId: scheduleId },
});

/** Makes the Schedule, or makes it what it should be. */
export async function ensureSchedule(client: Client, expected: KeptSchedule): Promise<void> {
  try {
    await client.schedule.create({ scheduleId: expected.scheduleId, ...optionsOf(expected) });
  } catch (error) {
    if (!(error instanceof ScheduleAlreadyRunning)) {
      throw error;
    }
    const handle = client.schedule.getHandle(expected.scheduleId);
    if ((await handle.describe()).state.note === expected.note) {
      return;
    }
    await handle.update(() => optionsOf(expected));
  }
}

/**
 * Has the server read a Schedule that starts nothing, and removes it. Throws what it throws.
 *
 * @returns when it would start next
 */
export async function tryOutSchedule(client: Client, expected: KeptSchedule): Promise<Date[]> {
  const { scheduleId } = expected;
  const handle = await client.schedule.create({ scheduleId, ...optionsOf({ ...expected, paused: true }) });
  try {
    return (await handle.describe()).info.nextActionTimes;
  } finally {
    await dropSchedule(client, scheduleId);
  }
}

/** Removes the Schedule; what it has started continues. */
export async function dropSchedule(client: Client, scheduleId: string): Promise<void> {
  try {
    await client.schedule.getHandle(scheduleId).delete();
  } catch (error) {
    if (!(error instanceof ScheduleNotFoundError)) {
      throw error;
    }
  }
}

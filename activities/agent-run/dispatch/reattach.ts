import { join } from 'node:path';
import type { RunEventInput } from '../../../contracts/runs/event';
import { compact } from '../../../platform/json/compact';
import { nothingRecorded, type RecordedOutput, withEvents } from '../../../providers/agents/local/recorded-output';
import type { ReattachRefusal } from '../../../providers/agents/provider';
import type { AttemptRecord } from '../../../stores/runs/attempt-store';
import type { RunEventStore } from '../../../stores/runs/event-store';

/** The outcome for an agent whose worker was lost: its end is recorded, or why no worker can reattach to it. */
export type Reattached = { claimed: true } | { claimed: false; reason: ReattachRefusal };

/** Where an agent that outlives its worker has its streams; `undefined` for any other one. */
export function spoolDirOf(record: AttemptRecord, agentsDir: string): string | undefined {
  const capability = record.providerRuntimeManifest?.capabilities.find(({ id }) => id === 'run.reattach');
  return capability?.state === 'supported' ? join(agentsDir, record._id) : undefined;
}

/** Why no worker of this host can reattach to the agent, as far as its record shows. */
export function notReattachable(
  record: AttemptRecord,
  { agentsDir, hostId }: { agentsDir: string; hostId: string },
): ReattachRefusal | undefined {
  if (spoolDirOf(record, agentsDir) === undefined) {
    return 'adapter-reattach-unsupported';
  }
  // It is being cleaned up after, or has ended: what ran of it was ended from here.
  if (record.reclaimed || record.completion) {
    return 'process-exited';
  }
  if (record.state !== 'running' || !record.process) {
    return 'supervisor-record-missing';
  }
  return record.process.hostId === hostId ? undefined : 'foreign-host';
}

const pageSize = 500;

/** How far the output of an attempt is in its events. */
export async function recordedOf(events: Pick<RunEventStore, 'read'>, attemptId: string): Promise<RecordedOutput> {
  let recorded = nothingRecorded;
  for (let after = 0; ;) {
    const page = await events.read(attemptId, after, pageSize);
    recorded = withEvents(recorded, page);
    const last = page.at(-1);
    if (!last) {
      return recorded;
    }
    after = last.sequence;
  }
}

/** Records that the run was resumed, once for each worker that has adopted it. */
export function recoveredEvent({ supervisor, process }: AttemptRecord): RunEventInput {
  return {
    kind: 'run.recovered',
    payload: {
      message: 'Another worker supervises the agent.',
      reattached: true,
      ...(process ? { hostId: process.hostId, pid: process.pid } : {}),
      ...compact({ supervisorPid: supervisor?.pid }),
    },
    dedupeKey: `reattached/${supervisor?.bootId ?? ''}/${supervisor?.pid ?? 0}/${supervisor?.startTime ?? ''}`,
  };
}

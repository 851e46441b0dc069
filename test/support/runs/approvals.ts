import type { Client } from '@temporalio/client';
import { createLog } from '../../../platform/log/log';
import { openDatabase } from '../../../stores/port/open';
import { type ApprovalStore, createApprovalStore } from '../../../stores/runs/approval-store';
import { createAttemptStore } from '../../../stores/runs/attempt-store';
import { createFeedStore } from '../../../stores/system/feed-store';
import { type Approvals, createApprovals } from '../../../workflows/run-approval/client';
import type { Caller } from '../caller';

/** Asks for approvals as a part of the service does, from the test's own process. */
export interface Requester {
  approvals: Approvals;
  store: ApprovalStore;
  close: () => Promise<void>;
}

export async function aRequester(
  client: Client,
  { dataDir, mongoUrl }: { dataDir: string; mongoUrl?: string | undefined },
): Promise<Requester> {
  const database = await openDatabase({ mongoUrl, dataDir, log: createLog({ name: 'test', level: 'silent' }) });
  const store = await createApprovalStore(database);
  const approvals = createApprovals({
    approvals: store,
    attempts: await createAttemptStore(database),
    feed: await createFeedStore(database),
    client,
    now: () => new Date(),
  });
  return { approvals, store, close: () => database.close() };
}

/** A run that waits for an agent elsewhere, until it is ended. */
export async function aWaitingRun(call: Caller, agent = 'elsewhere'): Promise<{ taskId: string; attemptId: string }> {
  const task = await call.createTask({ title: 'Wait', git: { repo: 'sample' } });
  const { attemptId } = await call.start(task.id, { agent });
  return { taskId: task.id, attemptId };
}

import { createApprovalStore } from '../../stores/approval-store';
import { createRunEventStore } from '../../stores/run-event-store';
import type { Closer } from '../closers';
import type { ApiContext } from '../context';
import { FeedHub } from './hub';

/** Starts to tell watchers what happens, on the stores of this process. */
export async function openHub(context: ApiContext, closers: Closer[]): Promise<FeedHub> {
  const { database, feed } = context;
  const hub = new FeedHub({
    ...context,
    approvals: await createApprovalStore(database),
    events: await createRunEventStore(database, feed),
  });
  await hub.start();
  closers.push(() => hub.stop());
  return hub;
}

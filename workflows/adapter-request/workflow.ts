import { proxyActivities } from '@temporalio/workflow';
import type { AdapterRequestActivities } from '../../activities/adapter-request/activities';
import type { AdapterProbe } from '../../contracts/chat/adapter';
import type { PollReport } from '../../contracts/chat/adapter-delivery';
import type { AdapterRequestInput } from './messages';

/** A caller waits: one try. */
const { probeAdapter, pollAdapter, readAdapterDefinitions } = proxyActivities<AdapterRequestActivities>({
  startToCloseTimeout: '60 seconds',
  scheduleToStartTimeout: '5 seconds',
  retry: { maximumAttempts: 1 },
  summary: 'ask the other side of the adapter',
});

/** Has a worker ask the other side of an adapter, and sends nothing to people there. */
export function adapterRequest({
  adapterId,
  question,
}: AdapterRequestInput): Promise<AdapterProbe['status'] | PollReport | number> {
  switch (question.kind) {
    case 'probe':
      return probeAdapter({ adapterId });
    case 'poll':
      return pollAdapter({ adapterId });
    case 'definitions':
      return readAdapterDefinitions({ adapterId });
  }
}

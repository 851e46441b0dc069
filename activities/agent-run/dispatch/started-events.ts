import type { RunEventInput } from '../../../contracts/runs/event';
import { compact } from '../../../platform/json/compact';
import type { ProcessIdentity } from '../../../platform/processes/identity';
import type { AttemptRecord } from '../../../stores/runs/attempt-store';

/** The events of an agent's start. */
export function startedEvents(record: AttemptRecord, hostId: string, { pid }: ProcessIdentity): RunEventInput[] {
  const { agent, provider } = record;
  const payload = { agent, provider, hostId, pid };
  return [{ kind: 'run.started', payload, dedupeKey: 'started' }, ...conversationEvents(record)];
}

/** An agent of the process protocol opens no session that it could report. */
function conversationEvents({ provider, conversation }: AttemptRecord): RunEventInput[] {
  if (provider !== 'process' || !conversation || conversation.edge === 'start') {
    return [];
  }
  const { edge, sourceAttemptId } = conversation;
  const kinds = {
    resume: 'conversation.resumed',
    'follow-up': 'conversation.followed-up',
    fork: 'conversation.forked',
  } as const;
  return [{ kind: kinds[edge], payload: compact({ sourceAttemptId }), dedupeKey: 'conversation' }];
}

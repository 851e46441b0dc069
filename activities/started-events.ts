import type { RunEventInput } from '../contracts/run-event';
import type { ProcessIdentity } from '../platform/processes/identity';
import type { AttemptRecord } from '../stores/attempt-store';

/** Says that the agent of an attempt was started. */
export function startedEvents(record: AttemptRecord, hostId: string, { pid }: ProcessIdentity): RunEventInput[] {
  const { agent, provider } = record;
  const payload = { agent, provider, hostId, pid };
  return [{ kind: 'run.started', payload, dedupeKey: 'started' }, ...conversationEvents(record)];
}

/** An agent of the process protocol opens no session that it could tell of. */
function conversationEvents({ provider, conversation }: AttemptRecord): RunEventInput[] {
  if (provider !== 'process' || !conversation) return [];
  const { edge, sourceAttemptId } = conversation;
  const kinds = {
    resume: 'conversation.resumed',
    'follow-up': 'conversation.followed-up',
    fork: 'conversation.forked',
  } as const;
  return [{ kind: kinds[edge], payload: { sourceAttemptId }, dedupeKey: 'conversation' }];
}

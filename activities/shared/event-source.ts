import type { RunEventSource } from '../../domain/events/seal';
import { compact } from '../../platform/json/compact';
import type { AttemptRecord } from '../../stores/runs/attempt-store';

/** What the events of an attempt have in common. */
export const sourceOf = (record: AttemptRecord): RunEventSource => ({
  taskId: record.taskId,
  attemptId: record._id,
  provider: record.provider,
  agent: record.agent,
  ...compact({ model: record.agentConfig.model }),
});

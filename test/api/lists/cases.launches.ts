import type { Stored } from '../../../stores/port/collection';
import { createHostStore } from '../../../stores/runs/hosts/host-store';
import type { ListCase } from './list-case';

const taskId = 'task_20260101_lister';
const at = (n = 0) => new Date(Date.UTC(2026, 0, 1, 0, 0, n)).toISOString();
const attemptId = (n: number) => `attempt_list00000${n}`;

/** Where launches go, and those that follow a failure. */
export const launchCases: ListCase[] = [
  {
    operation: 'listRecoveries',
    path: '/api/agents/recoveries',
    items: 'recoveries',
    idOf: (recovery) => recovery.attemptId,
    add: async ({ api }, n) => {
      const recoveries = await api.context.database.collection<Stored & Record<string, unknown>>({
        name: 'run-recoveries',
      });
      await recoveries.insert({
        _id: attemptId(n),
        schemaVersion: 'run-recovery/v1',
        taskId,
        attemptId: attemptId(n),
        rootAttemptId: attemptId(n),
        sequence: 1,
        failureClass: 'timeout',
        action: 'retry',
        state: n % 2 ? 'scheduled' : 'launching',
        reason: 'It took too long.',
        retryNumber: 0,
        maxRetries: 1,
        backoffMs: 1_000,
        notBefore: at(n),
        createdAt: at(n),
        updatedAt: at(n),
        revision: 1,
      });
    },
  },
  {
    operation: 'listHosts',
    path: '/api/agents/hosts',
    items: 'hosts',
    idOf: ({ hostId }) => hostId,
    add: async ({ api }, n) => (await createHostStore(api.context.database)).announce(`host-${n}`, 'machine'),
  },
];

import type { Client } from '@temporalio/client';
import type { PendingTransition } from '../../stores/tasks/task-transition-outbox';
import { createTransitionStart } from '../../workflows/deliver-hooks/client';
import { usualHookTimings } from '../../workflows/deliver-hooks/messages';

const transition: PendingTransition = {
  id: 'task_1/1',
  context: {
    event: 'task.blocked',
    taskId: 'task_1',
    taskTitle: 'a',
    taskType: 'task',
    priority: 'medium',
    newStatus: 'blocked',
    location: 'active',
    timestamp: '2026-01-01T00:00:00.000Z',
  },
};

/** A client whose starts fail with a gRPC status. */
const failingClient = (code: number) =>
  ({
    withDeadline: <T>(_until: number, call: () => Promise<T>): Promise<T> => call(),
    workflow: { start: () => Promise.reject(Object.assign(new Error('no'), { code })) },
  }) as unknown as Client;

describe('start of the hooks of a transition', () => {
  it.each([
    ['Temporal is away', 14, 'TEMPORAL_UNAVAILABLE'],
    ['Temporal does not respond in time', 4, 'HOOKS_PENDING'],
  ])('is refused with 503 when %s', async (_case, code, expected) => {
    const start = createTransitionStart(failingClient(code), { sign: () => 'proof' } as never, usualHookTimings);
    await expect(start(transition)).rejects.toMatchObject({ code: expected, status: 503 });
  });
});

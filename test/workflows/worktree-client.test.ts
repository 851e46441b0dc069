import { type Client, WorkflowUpdateFailedError } from '@temporalio/client';
import { ApplicationFailure } from '@temporalio/common';
import { createWorktreeLauncher } from '../../workflows/worktree/client';
import { someProofs } from '../support/stack/proofs';

/** A client whose updates have these outcomes, one after another. */
function clientThat(...outcomes: (() => Promise<unknown>)[]): { client: Client; asked: () => number } {
  let asked = 0;
  const executeUpdateWithStart = () => outcomes[asked++]?.();
  const withDeadline = (_deadline: number, call: () => unknown) => call();
  // The launcher calls nothing else of a client for an operation.
  return { client: { workflow: { executeUpdateWithStart }, withDeadline } as unknown as Client, asked: () => asked };
}

const failed = (type: string) => () =>
  Promise.reject(new WorkflowUpdateFailedError('failed', ApplicationFailure.nonRetryable('why', type)));
const ask = () => Promise.reject(new Error('No operation asks a host.'));
const done = () => Promise.resolve({ status: 'done' });
const operate = (client: Client) =>
  createWorktreeLauncher({ client, ask, proofs: someProofs(), heartbeatTimeoutMs: 1_000 }).operate(
    'task_20260101_a',
    { kind: 'create' },
    'test',
  );

describe('worktree client', () => {
  it('asks again when the workflow it asked ended in that moment', async () => {
    const { client, asked } = clientThat(failed('AcceptedUpdateCompletedWorkflow'), done);
    await expect(operate(client)).resolves.toEqual({ status: 'done' });
    expect(asked()).toBe(2);
  });

  it('reports that the operation is pending when that happens again and again', async () => {
    const tooLate = failed('AcceptedUpdateCompletedWorkflow');
    const { client } = clientThat(tooLate, tooLate, tooLate, done);
    await expect(operate(client)).rejects.toMatchObject({ status: 503, code: 'WORKTREE_PENDING' });
  });

  it('does not ask again what another operation refuses', async () => {
    const { client, asked } = clientThat(failed('WORKTREE_BUSY'), done);
    await expect(operate(client)).rejects.toMatchObject({ status: 409, code: 'WORKTREE_BUSY' });
    expect(asked()).toBe(1);
  });
});

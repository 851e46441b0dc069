import { WorkflowUpdateFailedError } from '@temporalio/client';
import { ApplicationFailure } from '@temporalio/common';
import { AppError } from '../../../platform/errors/app-error';
import { withinDeadline } from '../../../workflows/clients/deadline';

/** Calls are made as they are; that their deadline ends them is Temporal's client's to do. */
const client = { withDeadline: <T>(_until: number | Date, call: () => Promise<T>): Promise<T> => call() };
const pending = () => new AppError('PENDING', { status: 503, message: 'Ask again.' });

const grpcError = (code: number, message: string): Error => Object.assign(new Error(message), { code });
const notReady = () => grpcError(9, 'Update-with-Start could not be executed.');

describe('deadline of Temporal calls', () => {
  it('asks again while a workflow is not ready, because its worker has died', async () => {
    let calls = 0;
    const call = async () => {
      calls += 1;
      if (calls < 3) {
        throw new Error('wrapped', { cause: notReady() });
      }
      return 'answered';
    };
    expect(await withinDeadline(client, { pending }, call)).toBe('answered');
    expect(calls).toBe(3);
  });

  it('reports that it is pending when it does not get ready in time', async () => {
    const call = () => Promise.reject(notReady());
    await expect(withinDeadline(client, { pending, withinMs: 250 }, call)).rejects.toMatchObject({
      code: 'PENDING',
      status: 503,
    });
  });

  it.each([
    ['no server answers', 14, 'TEMPORAL_UNAVAILABLE'],
    ['the time is over', 4, 'PENDING'],
  ])('reports it when %s, at once', async (_case, code, expected) => {
    let calls = 0;
    const call = () => {
      calls += 1;
      return Promise.reject(grpcError(code, 'no'));
    };
    await expect(withinDeadline(client, { pending }, call)).rejects.toMatchObject({ code: expected, status: 503 });
    expect(calls).toBe(1);
  });

  it('leaves other failures as they are', async () => {
    const call = () => Promise.reject(grpcError(3, 'wrong'));
    await expect(withinDeadline(client, { pending }, call)).rejects.toThrow('wrong');
  });

  it('reports when workers do not take what this API signs', async () => {
    const refused = ApplicationFailure.nonRetryable('Its proof is forged.', 'MESSAGE_UNPROVEN');
    const call = () => Promise.reject(new WorkflowUpdateFailedError('Workflow Update failed', refused));
    const reported = { code: 'MESSAGE_UNPROVEN', status: 503, message: 'Its proof is forged.' };
    await expect(withinDeadline(client, { pending }, call)).rejects.toMatchObject(reported);
  });
});

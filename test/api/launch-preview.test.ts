import { ActivityExecutionFailedError, type Client } from '@temporalio/client';
import { createRunLauncher } from '../../api/runs/launcher';
import type { PreviewInput } from '../../activities/prepare';

const input: PreviewInput = { snapshot: {} as PreviewInput['snapshot'], repository: null, git: null, hostId: null };

/** A client of a server that fails every activity it is asked for, and answers for workflows. */
function clientThatFails(error: Error) {
  const started: string[] = [];
  const client = {
    activity: { typed: () => ({ execute: () => Promise.reject(error) }) },
    workflow: {
      execute: (name: string) => {
        started.push(name);
        return Promise.resolve({ manifest: 'compiled' });
      },
    },
    withDeadline: <T>(_deadline: number, call: () => Promise<T>) => call(),
  };
  return { launcher: createRunLauncher(client as unknown as Client), started };
}

test('a server that knows no activities without a workflow compiles the preview in one', async () => {
  const unimplemented = Object.assign(new Error('unknown method StartActivityExecution'), { code: 12 });
  const { launcher, started } = clientThatFails(new Error('failed to start', { cause: unimplemented }));
  expect(await launcher.preview(input)).toEqual({ manifest: 'compiled' });
  expect(started).toEqual(['launchPreview']);
});

test('a preview that fails on its host is a 503 that says to try again', async () => {
  const { launcher, started } = clientThatFails(new ActivityExecutionFailedError('failed', undefined, 'preview/1'));
  await expect(launcher.preview(input)).rejects.toMatchObject({ code: 'PREVIEW_FAILED', status: 503 });
  expect(started).toEqual([]);
});

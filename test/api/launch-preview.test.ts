import { type Client } from '@temporalio/client';
import { createRunLauncher } from '../../api/runs/launcher';
import type { AskHost } from '../../api/temporal/ask-host';
import type { PreviewInput } from '../../activities/prepare';
import { someProofs } from '../support/proofs';
import { NexusFailedError, NexusNotServedError } from '../../platform/temporal/ask-nexus';

const input: PreviewInput = { snapshot: {} as PreviewInput['snapshot'], repository: null, git: null, hostId: null };

/** A launcher whose hosts answer every question with an error, and whose workflows answer. */
function launcherWhoseHosts(error: Error) {
  const started: string[] = [];
  const client = {
    workflow: {
      execute: (name: string) => {
        started.push(name);
        return Promise.resolve({ manifest: 'compiled' });
      },
    },
    withDeadline: <T>(_deadline: number, call: () => Promise<T>) => call(),
  };
  const ask: AskHost = () => Promise.reject(error);
  // The launcher calls nothing else of a client for a preview.
  return { launcher: createRunLauncher(client as unknown as Client, ask, someProofs()), started };
}

test('where hosts cannot be asked, a workflow compiles the preview', async () => {
  const { launcher, started } = launcherWhoseHosts(new NexusNotServedError('no HTTP API'));
  expect(await launcher.preview(input)).toEqual({ manifest: 'compiled' });
  expect(started).toEqual(['launchPreview']);
});

test.each([
  ['fails on its host', 500, 'PREVIEW_FAILED'],
  ['finds nobody who compiles it', 520, 'RUN_PENDING'],
])('a preview that %s is a 503 that says to try again', async (_what, status, code) => {
  const { launcher, started } = launcherWhoseHosts(new NexusFailedError(status, 'why'));
  await expect(launcher.preview(input)).rejects.toMatchObject({ code, status: 503 });
  expect(started).toEqual([]);
});

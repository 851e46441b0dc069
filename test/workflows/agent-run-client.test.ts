import { type Client } from '@temporalio/client';
import type { PreviewInput } from '../../activities/agent-run/prepare/activities';
import { NexusFailedError, NexusNotServedError } from '../../platform/temporal/nexus-client';
import { createRunLauncher } from '../../workflows/agent-run/client';
import type { HostClient } from '../../workflows/clients/host-client';
import { someProofs } from '../support/stack/proofs';

const input: PreviewInput = { snapshot: {} as PreviewInput['snapshot'], repository: null, git: null, hostId: null };

/** A launcher whose hosts respond to every question with an error, and whose workflows respond. */
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
  const ask: HostClient = () => Promise.reject(error);
  // The launcher calls nothing else of a client for a preview.
  return { launcher: createRunLauncher(client as unknown as Client, ask, someProofs()), started };
}

describe('the client of agent runs', () => {
  test('where hosts cannot be asked, a workflow compiles the preview', async () => {
    const { launcher, started } = launcherWhoseHosts(new NexusNotServedError('no HTTP API'));
    expect(await launcher.preview(input)).toEqual({ manifest: 'compiled' });
    expect(started).toEqual(['launchPreview']);
  });

  test.each([
    ['fails on its host', 500, 'PREVIEW_FAILED'],
    ['finds no worker that compiles it', 520, 'RUN_PENDING'],
  ])('a preview that %s is a 503 that reports to try again', async (_what, status, code) => {
    const { launcher, started } = launcherWhoseHosts(new NexusFailedError(status, 'why'));
    await expect(launcher.preview(input)).rejects.toMatchObject({ code, status: 503 });
    expect(started).toEqual([]);
  });
});

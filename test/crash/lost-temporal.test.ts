import { readFileSync, writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { eventually } from '../../platform/testing/eventually';
import { makeTempDir, type TempDir } from '../../platform/testing/temp-dir';
import { scriptAgent } from '../support/caller';
import { aRepository } from '../support/git/repository';
import { type Service, startService } from '../support/stack/service';

let files: TempDir;
let witness: string;
let service: Service;

describe('runs after a loss of Temporal', () => {
  beforeAll(async () => {
    files = await makeTempDir('lost-temporal');
    witness = join(files.path, 'witness');
    writeFileSync(witness, '');
    service = await startService({ WITNESS: witness, BOARD_MAX_RUNS: '3', BOARD_RETRY_BACKOFF_MS: '20000' });
    await service.call.addRepository('sample', await aRepository(files.path));
    await service.call.configureAgents([
      { ...scriptAgent('witnessed-bee', '40', '100'), environmentKeys: ['WITNESS'] },
      { ...scriptAgent('misbehaving', 'rate-limited'), type: 'limited' },
      { type: 'elsewhere', name: 'Elsewhere', provider: 'remote-callback' },
    ]);
  });

  afterAll(async () => {
    await service.close();
    await files.remove();
  });

  const starts = () =>
    readFileSync(witness, 'utf8')
      .split('\n')
      .filter((line) => line.startsWith('start '))
      .map((line) => line.split(' ')[1]);

  async function launch(agent: string): Promise<{ taskId: string; attemptId: string }> {
    const { id } = await service.call.createTask({ title: 'Lost', git: { repo: 'sample' } });
    const { attemptId } = await service.call.start(id, { agent });
    return { taskId: id, attemptId };
  }

  test('with an empty Temporal nothing is lost: runs end or continue, each once, and what waited is launched', async () => {
    const failed = await launch('limited');
    await service.call.ended(failed.taskId);
    const remote = await launch('elsewhere');
    const working = await launch('witnessed-bee');
    const alsoWorking = await launch('witnessed-bee');
    const queued = await launch('witnessed-bee');
    expect((await service.call.status(queued.taskId)).state).toBe('queued');
    await eventually(() =>
      expect(starts()).toEqual(expect.arrayContaining([working.attemptId, alsoWorking.attemptId])),
    );
    // With its workers, so that no process records what became of the agents.
    for (const part of ['temporal', 'worker'] as const) {
      process.kill(service.pids()[part]!, 'SIGKILL');
    }
    service = await service.restart((dataDir) => rm(join(dataDir, 'temporal'), { recursive: true }));
    const { call } = service;

    const { providerRuntimeManifest } = await call.status(remote.taskId);
    const report = {
      attemptId: remote.attemptId,
      providerRuntimeManifestDigest: providerRuntimeManifest.digest,
      status: 'success',
      summary: 'done elsewhere',
    };
    await eventually(() => call.ok('POST', `/api/agents/${remote.taskId}/complete`, report), {
      everyMs: 500,
    });
    expect((await call.status(remote.taskId)).attempt).toMatchObject({
      id: remote.attemptId,
      completion: { status: 'success', terminalSource: 'callback' },
    });

    for (const { taskId, attemptId } of [working, alsoWorking, queued]) {
      await eventually(
        async () => {
          const { state, attempt } = await call.status(taskId);
          expect({ state, status: attempt.completion?.status }).toEqual({ state: 'ended', status: 'success' });
        },
        { everyMs: 200 },
      );
      const { attempts } = await call.ok('GET', `/api/agents/${taskId}/attempts`);
      const first = attempts.at(-1);
      expect(first.id).toBe(attemptId);
      // A run without its agent yet continues; one with it is interrupted, and retried.
      if (taskId === queued.taskId) {
        expect(attempts).toHaveLength(1);
      } else {
        expect(first.completion).toMatchObject({ status: 'interrupted', harness: { ended: 'lost' } });
      }
      for (const { id } of attempts) {
        const kinds = (await call.events(taskId, id)).map(({ kind }) => kind);
        expect(kinds.filter((kind) => /^run\.(completed|failed|interrupted)$/.test(kind))).toHaveLength(1);
        expect(await call.ok('GET', `/api/admission/${id}`)).toMatchObject({ state: 'released' });
      }
    }
    expect(new Set(starts()).size).toBe(starts().length);

    const { attempts } = await eventually(async () => {
      const page = await call.ok('GET', `/api/agents/${failed.taskId}/attempts`);
      expect(page.attempts).toHaveLength(2);
      return page;
    });
    expect(attempts[0]).toMatchObject({ parentAttemptId: failed.attemptId, retryNumber: 1 });
  });
});

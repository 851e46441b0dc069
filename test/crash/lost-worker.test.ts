import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { eventually } from '../../platform/testing/eventually';
import { makeTempDir, type TempDir } from '../../platform/testing/temp-dir';
import { scriptAgent } from '../support/caller';
import { aRepository } from '../support/git/repository';
import { kill } from '../support/processes/kill';
import { partEnvironment, type Service, startService } from '../support/stack/service';
import { startWorkerProcess } from '../support/stack/worker-process';
import { allEnded, expectNothingLostOrDoubled, launchAll, type Launched } from './runs';

/** Longer than this file may take: a test that waits for it fails. */
const settings = { BOARD_HEARTBEAT_TIMEOUT_MS: '300000' };

let files: TempDir;
let witness: string;
let service: Service;

describe('runs after a loss of their worker', () => {
  beforeAll(async () => {
    files = await makeTempDir('crash-lost-worker');
    witness = join(files.path, 'witness');
    writeFileSync(witness, '');
    service = await startService({ ...settings, WITNESS: witness });
    await service.call.addRepository('sample', await aRepository(files.path));
    await service.call.configureAgents([
      { ...scriptAgent('witnessed-bee', '50', '100'), environmentKeys: ['WITNESS'] },
    ]);
  });

  afterAll(async () => {
    await service.close();
    await files.remove();
  });

  const allAtWork = (launched: Launched[]): Promise<void> =>
    eventually(async () => {
      const statuses = await Promise.all(launched.map(({ taskId }) => service.call.status(taskId)));
      expect(statuses.every(({ lastSequence }) => lastSequence >= 2)).toBe(true);
    });

  /** The recovery of each run; `null` for one whose worker lived. */
  const recoveries = (launched: Launched[]) =>
    Promise.all(launched.map(({ taskId }) => service.call.ok('GET', `/api/agents/${taskId}/recovery`)));

  test('a worker that is started again adopts the runs of its predecessor without waiting for a heartbeat', async () => {
    const launched: Launched[] = [];
    await launchAll(service, 3, launched, {}, 'again');
    await allAtWork(launched);
    kill(service.pids().worker!);
    await allEnded(service, launched);
    await expectNothingLostOrDoubled(service, witness, launched);
    for (const recovery of await recoveries(launched)) {
      expect(recovery).toMatchObject({ failureClass: 'transient-transport', state: 'launched', backoffMs: 0 });
    }
  });

  test('a worker adopts the runs of one beside it that died, and leaves those of one that is only paused', async () => {
    const logFile = join(files.path, 'second.log');
    const { worker: first } = service.pids();
    const second = await startWorkerProcess({
      environment: partEnvironment(service, { ...settings, WITNESS: witness }),
      logFile,
    });
    try {
      const launched: Launched[] = [];
      await launchAll(service, 8, launched, {}, 'beside');
      await allAtWork(launched);
      process.kill(second.pid, 'SIGSTOP');
      // Several times as long as it takes to notice a death.
      await delay(2_000);
      process.kill(second.pid, 'SIGCONT');
      expect((await recoveries(launched)).filter(Boolean)).toEqual([]);

      kill(second.pid);
      await allEnded(service, launched);
      await expectNothingLostOrDoubled(service, witness, launched);
      const lost = (await recoveries(launched)).filter(Boolean).length;
      expect(lost).toBeGreaterThan(0);
      expect(lost).toBeLessThan(launched.length);
      expect(service.pids().worker).toBe(first);
    } finally {
      kill(second.pid);
    }
  });
});

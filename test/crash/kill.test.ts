import { writeFileSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { eventually } from '../../platform/testing/eventually';
import { makeTempDir, type TempDir } from '../../platform/testing/temp-dir';
import { scriptAgent } from '../support/caller';
import { aRepository, git } from '../support/git/repository';
import { type Service, startService } from '../support/stack/service';
import { allEnded, expectNothingLostOrDoubled, launchAll, type Launched, working } from './runs';

const runs = 10;

describe.each(['worker', 'api', 'temporal'])('kill -9 of the %s during ten concurrent runs', (part) => {
  let service: Service;
  let witness: string;

  let files: TempDir;

  beforeAll(async () => {
    files = await makeTempDir(`crash-${part}`);
    witness = join(files.path, 'witness');
    writeFileSync(witness, '');
    service = await startService({ WITNESS: witness });
    await service.call.addRepository('sample', await aRepository(files.path));
    await service.call.configureAgents([
      { ...scriptAgent('witnessed-bee', '30', '100'), environmentKeys: ['WITNESS'] },
    ]);
  });

  afterAll(async () => {
    await service.close();
    await files.remove();
  });

  test('every run ends exactly once, and no event is missing or published twice', async () => {
    const launched: Launched[] = [];
    const launching = launchAll(service, runs, launched);
    // In the middle: some runs work while others are still being launched.
    await working(service, launched);
    const pid = service.pids()[part];
    process.kill(pid!, 'SIGKILL');

    await launching;
    await allEnded(service, launched);
    await expectNothingLostOrDoubled(service, witness, launched);
    expect(service.pids()[part]).not.toBe(pid);
    expect(await readdir(join(service.dataDir, 'envelopes'))).toEqual([]);

    const retried = (
      await Promise.all(launched.map(({ taskId }) => service.call.ok('GET', `/api/agents/${taskId}/recovery`)))
    ).filter(Boolean);
    if (part !== 'worker') {
      expect(retried).toEqual([]);
    } else {
      expect(retried.length).toBeGreaterThan(0);
      let preserved = 0;
      for (const recovery of retried) {
        expect(recovery).toMatchObject({ action: 'retry', state: 'launched', failureClass: 'transient-transport' });
        const page = await service.call.events(recovery.taskId, recovery.attemptId);
        // An attempt that had reported its first step had written a file.
        if (!page.some(({ kind }) => kind === 'progress')) {
          continue;
        }
        preserved += 1;
        const { preservedRef } = page.at(-1).payload;
        expect(preservedRef).toBe(`refs/board/attempts/${recovery.attemptId}`);
        const { taskEnvelope } = await service.call.status(recovery.taskId);
        expect(await git(taskEnvelope.workspace.path, 'show', `${preservedRef}:step-1.txt`)).toBe(recovery.attemptId);
      }
      expect(preserved).toBeGreaterThan(0);
    }
  });
});

test('Temporal away for longer than a heartbeat may stay away interrupts no agent that works', async () => {
  const files = await makeTempDir('crash-outage');
  const heartbeatMs = 1_000;
  const service = await startService({ BOARD_HEARTBEAT_TIMEOUT_MS: String(heartbeatMs) });
  try {
    await service.call.addRepository('sample', await aRepository(files.path));
    await service.call.configureAgents([scriptAgent('worker-bee', '80', '100')]);
    const task = await service.call.createTask({ title: 'Undisturbed', git: { repo: 'sample' } });
    const { attemptId } = await service.call.start(task.id);
    const launched = [{ taskId: task.id as string, attemptId: attemptId as string }];
    await eventually(async () => expect((await service.call.status(task.id)).lastSequence).toBeGreaterThan(2));

    const { temporal } = service.pids();
    const stoppedAt = Date.now();
    process.kill(temporal!, 'SIGSTOP');
    await eventually(() => expect(Date.now() - stoppedAt).toBeGreaterThan(4 * heartbeatMs));
    process.kill(temporal!, 'SIGCONT');

    await allEnded(service, launched);
    const status = await service.call.status(task.id);
    expect(status.attempt).toMatchObject({
      id: attemptId,
      completion: { status: 'success', harness: { ended: 'exit' } },
    });
    expect(await service.call.ok('GET', `/api/agents/${task.id}/recovery`)).toBeNull();
  } finally {
    await service.close();
    await files.remove();
  }
});

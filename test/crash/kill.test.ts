import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { findByEnvironment } from '../../platform/processes/identity';
import { makeTempDir, type TempDir } from '../../platform/testing/temp-dir';
import { eventually } from '../../platform/testing/eventually';
import { scriptAgent, type Answer } from '../support/caller';
import { aRepository, git } from '../support/repository';
import { startService, type Service } from '../support/service';

const runs = 10;

interface Launched {
  taskId: string;
  attemptId: string;
}

/** Repeats a call that may meet a dead process, as a caller with an idempotency key does. */
const persistently = <T>(call: () => Promise<T>): Promise<T> => eventually(call, { withinMs: 60_000, everyMs: 200 });

/** Ten runs that last a few seconds each, started under idempotency keys; `launched` grows as they are answered. */
async function launchAll({ call }: Service, launched: Launched[]): Promise<void> {
  await Promise.all(
    Array.from({ length: runs }, async (_, index) => {
      const task = await persistently(() => call.createTask({ title: `Run ${index}`, git: { repo: 'sample' } }));
      const key = { 'x-idempotency-key': `crash-run-${index}` };
      const { attemptId } = await persistently(() => call.start(task.id, {}, key));
      launched.push({ taskId: task.id, attemptId });
    }),
  );
}

/** Waits until three of the runs have told of their first step. */
function working({ call }: Service, launched: Launched[]): Promise<void> {
  return eventually(
    async () => {
      const statuses = await Promise.all(launched.map(({ taskId }) => call.status(taskId)));
      expect(statuses.filter(({ lastSequence }) => lastSequence >= 2).length).toBeGreaterThanOrEqual(3);
    },
    { withinMs: 60_000, everyMs: 50 },
  );
}

/** The status of the last attempt of each task, once none is running and none is due to follow. */
function allEnded({ call }: Service, launched: Launched[]): Promise<Answer['body'][]> {
  return Promise.all(
    launched.map(({ taskId }) =>
      eventually(
        async () => {
          const status = await call.status(taskId);
          const recovery = await call.ok('GET', `/api/agents/${taskId}/recovery`);
          if (status.state !== 'ended') throw new Error(`${taskId} is ${status.state}`);
          if (recovery?.nextAttemptId && recovery.attemptId === status.attemptId) throw new Error('a retry is due');
          return status;
        },
        { withinMs: 90_000, everyMs: 200 },
      ),
    ),
  );
}

/** What must hold of every run whatever was killed: ended once, told without gap or repetition, dispatched once. */
async function expectNothingLostOrDoubled(service: Service, witness: string, launched: Launched[]): Promise<void> {
  const starts = readFileSync(witness, 'utf8')
    .split('\n')
    .filter((line) => line.startsWith('start '));
  const dispatched = starts.map((line) => line.split(' ')[1]);
  expect(new Set(dispatched).size).toBe(dispatched.length);

  for (const { taskId, attemptId } of launched) {
    const status = await service.call.status(taskId);
    expect(status.attempt.completion.status).toBe('success');
    for (const id of new Set([attemptId, status.attemptId])) {
      const events = await service.call.events(taskId, id);
      expect(events.map(({ sequence }) => sequence)).toEqual(events.map((_, index) => index + 1));
      expect(new Set(events.map(({ eventId }) => eventId)).size).toBe(events.length);
      const ends = events.filter(({ kind }) => ['run.completed', 'run.failed', 'run.interrupted'].includes(kind));
      expect(ends).toHaveLength(1);
      // An attempt whose worker died between the spawn and its record was dispatched, and never told as started.
      const started = events.filter(({ kind }) => kind === 'run.started').length;
      expect(id === status.attemptId ? [1] : [0, 1]).toContain(started);
      expect(await findByEnvironment('BOARD_ATTEMPT_ID', id)).toEqual([]);
    }
    const task = await service.call.ok('GET', `/api/tasks/${taskId}`);
    expect(task).toMatchObject({ status: 'done', attempt: { id: status.attemptId, result: 'success' } });
    const path = status.taskEnvelope.workspace.path;
    expect(await git(path, 'log', '--format=%s')).toBe('Work\nFirst');
    expect(await git(path, 'status', '--porcelain')).toBe('');
  }
}

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
  }, 60_000);

  afterAll(async () => {
    await service.close();
    await files.remove();
  });

  test('every run ends exactly once, and no event is missing or told twice', async () => {
    const launched: Launched[] = [];
    const launching = launchAll(service, launched);
    // In the middle: some runs work while others are still being launched.
    await working(service, launched);
    const pid = service.pids()[part];
    process.kill(pid!, 'SIGKILL');

    await launching;
    await allEnded(service, launched);
    await expectNothingLostOrDoubled(service, witness, launched);
    expect(service.pids()[part]).not.toBe(pid);

    const retried = (
      await Promise.all(launched.map(({ taskId }) => service.call.ok('GET', `/api/agents/${taskId}/recovery`)))
    ).filter(Boolean);
    if (part !== 'worker') expect(retried).toEqual([]);
    else {
      expect(retried.length).toBeGreaterThan(0);
      let preserved = 0;
      for (const recovery of retried) {
        expect(recovery).toMatchObject({ action: 'retry', state: 'launched', failureClass: 'transient-transport' });
        const page = await service.call.events(recovery.taskId, recovery.attemptId);
        // An attempt that had told of its first step had written a file.
        if (!page.some(({ kind }) => kind === 'progress')) continue;
        preserved += 1;
        const { preservedRef } = page.at(-1).payload;
        expect(preservedRef).toBe(`refs/board/attempts/${recovery.attemptId}`);
        const { taskEnvelope } = await service.call.status(recovery.taskId);
        expect(await git(taskEnvelope.workspace.path, 'show', `${preservedRef}:step-1.txt`)).toBe(recovery.attemptId);
      }
      expect(preserved).toBeGreaterThan(0);
    }
  }, 150_000);
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
}, 120_000);

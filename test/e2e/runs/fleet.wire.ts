import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { startApi } from '../../../api/start';
import { createLog } from '../../../platform/log/log';
import { findByEnvironment } from '../../../platform/processes/identity';
import type { RunningPart } from '../../../platform/processes/parts/part';
import { eventually } from '../../../platform/testing/eventually';
import { BoardElsewhereError } from '../../../stores/system/board-home';
import { scriptAgent } from '../../support/caller';
import { aRepository } from '../../support/git/repository';
import { type Stack, startStack } from '../../support/stack/stack';
import { startWorkerProcess } from '../../support/stack/worker-process';

/** What they share is MongoDB and Temporal, and the repository that the second one works on. */
describe('a fleet of two hosts', () => {
  let stack: Stack;
  let second: RunningPart;
  let secondDir: string;
  const log = () => join(stack.dir, 'second.log');

  const startSecond = () =>
    startWorkerProcess({
      environment: {
        ...process.env,
        BOARD_AUTH_ENABLED: 'false',
        BOARD_DATA_DIR: secondDir,
        BOARD_HOST_ID: 'second',
        BOARD_HEARTBEAT_TIMEOUT_MS: '2000',
        BOARD_STOP_GRACE_MS: '500',
        BOARD_DRAIN_MS: '0',
        MONGODB_URL: stack.env.MONGODB_URL,
        TEMPORAL_ADDRESS: stack.env.TEMPORAL_ADDRESS,
        TEMPORAL_NAMESPACE: stack.env.TEMPORAL_NAMESPACE,
      },
      logFile: log(),
    });

  beforeAll(async () => {
    stack = await startStack();
  });
  beforeAll(async () => {
    secondDir = join(stack.dir, 'second');
    second = await startSecond();
    const path = await aRepository(stack.dir);
    await stack.call.ok('POST', '/api/config/repos', { name: 'far', path, defaultBranch: 'main', hostId: 'second' });
    await stack.call.configureAgents([scriptAgent('worker-bee', '15', '100')]);
  });
  afterAll(async () => {
    await second.stop(20_000);
    await stack.close();
  });

  const launch = async () => {
    const task = await stack.call.createTask({ title: 'Far away', git: { repo: 'far' } });
    const { attemptId } = await stack.call.start(task.id);
    return { taskId: task.id as string, attemptId: attemptId as string };
  };

  test('a run that is placed on the second host works there, while its task is on the first', async () => {
    const { taskId, attemptId } = await launch();
    const { attempt, taskEnvelope } = await stack.call.ended(taskId);
    expect(attempt.completion.status).toBe('success');
    expect(taskEnvelope.workspace.path).toBe(join(secondDir, 'worktrees', taskId));
    const events = await stack.call.events(taskId, attemptId);
    expect(events.find(({ kind }) => kind === 'run.started').payload).toMatchObject({ hostId: 'second' });
    expect(await stack.call.ok('GET', `/api/tasks/${taskId}`)).toMatchObject({ status: 'done' });
    expect(existsSync(join(secondDir, 'tasks'))).toBe(false);
    const [working] = readFileSync(log(), 'utf8')
      .split('\n')
      .filter((line) => line.includes('"msg":"worker started"'));
    expect(JSON.parse(working!).queues).toEqual(['host/second', expect.stringMatching(/^worker\/second\//)]);
  });

  test('an api may not serve the tasks of another directory', async () => {
    const env = { ...stack.env, BOARD_DATA_DIR: secondDir };
    await expect(startApi(env, createLog({ name: 'test', level: 'silent' }))).rejects.toThrow(BoardElsewhereError);
  });

  test('what is reserved on a host that died is free after its lease, and its runs continue when it is back', async () => {
    await stack.call.ok('PATCH', '/api/settings/features', { admission: { leaseMs: 3_000, heartbeatMs: 1_000 } });
    const { taskId, attemptId } = await launch();
    await eventually(async () => expect((await stack.call.status(taskId)).lastSequence).toBeGreaterThan(2));
    process.kill(second.pid, 'SIGKILL');
    await second.exited;
    const reservation = await eventually(async () => {
      const found = await stack.call.ok('GET', `/api/admission/${attemptId}`);
      expect(found.state).toBe('expired');
      return found;
    });
    expect(reservation).toMatchObject({ tree: { committed: { runs: 1 } } });

    second = await startSecond();
    await eventually(
      async () => {
        const status = await stack.call.status(taskId);
        expect(status).toMatchObject({ state: 'ended', attempt: { completion: { status: 'success' } } });
        expect(status.attemptId).not.toBe(attemptId);
      },
      { everyMs: 100 },
    );
    expect(await findByEnvironment('BOARD_ATTEMPT_ID', attemptId)).toEqual([]);
  }, 150_000);
});

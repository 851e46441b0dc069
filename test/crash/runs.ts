import { readFileSync } from 'node:fs';
import { inspect } from 'node:util';
import { findByEnvironment } from '../../platform/processes/identity';
import { eventually } from '../../platform/testing/eventually';
import type { Answer } from '../support/caller';
import { git } from '../support/git/repository';
import { persistently } from '../support/processes/persistently';
import type { Service } from '../support/stack/service';

/** A launch that has a response. */
export interface Launched {
  taskId: string;
  attemptId: string;
}

/** Starts runs at once, each under an idempotency key; `launched` grows with the responses. */
export async function launchAll(
  { call }: Service,
  runs: number,
  launched: Launched[],
  request: object = {},
  name = 'crash',
): Promise<void> {
  await Promise.all(
    Array.from({ length: runs }, async (_, index) => {
      const task = await persistently(() => call.createTask({ title: `Run ${index}`, git: { repo: 'sample' } }));
      const key = { 'x-idempotency-key': `${name}-run-${index}` };
      const { attemptId } = await persistently(() => call.start(task.id, request, key));
      launched.push({ taskId: task.id, attemptId });
    }),
  );
}

/** Waits until three of the runs have reported their first step. */
export function working({ call }: Service, launched: Launched[]): Promise<void> {
  return eventually(
    async () => {
      const statuses = await Promise.all(launched.map(({ taskId }) => call.status(taskId)));
      expect(statuses.filter(({ lastSequence }) => lastSequence >= 2).length).toBeGreaterThanOrEqual(3);
    },
    { everyMs: 50 },
  );
}

/** The status of the last attempt of each task, once none is running and none is due to follow. */
export function allEnded({ call }: Service, launched: Launched[]): Promise<Answer['body'][]> {
  return Promise.all(
    launched.map(({ taskId }) =>
      eventually(
        async () => {
          const status = await call.status(taskId);
          const recovery = await call.ok('GET', `/api/agents/${taskId}/recovery`);
          if (status.state !== 'ended') {
            throw new Error(`${taskId} is ${status.state}`);
          }
          if (recovery?.nextAttemptId && recovery.attemptId === status.attemptId) {
            throw new Error('a retry is due');
          }
          // What failed or was lost is first recorded as ended, and then what follows from it.
          const failed = status.attempt?.completion?.status !== 'success';
          if (failed && recovery?.attemptId !== status.attemptId) {
            throw new Error('nobody has decided what follows');
          }
          return status;
        },
        { everyMs: 200 },
      ),
    ),
  );
}

/** What must hold of every run whatever was killed: ended once, recorded without gap or repetition, dispatched once. */
export async function expectNothingLostOrDoubled(
  service: Service,
  witness: string,
  launched: Launched[],
): Promise<void> {
  const starts = readFileSync(witness, 'utf8')
    .split('\n')
    .filter((line) => line.startsWith('start '));
  const dispatched = starts.map((line) => line.split(' ')[1]);
  expect(new Set(dispatched).size).toBe(dispatched.length);

  for (const { taskId, attemptId } of launched) {
    const status = await service.call.status(taskId);
    if (status.attempt.completion.status !== 'success') {
      throw new Error(await whyItFailed(service, taskId));
    }
    for (const id of new Set([attemptId, status.attemptId])) {
      const events = await service.call.events(taskId, id);
      expect(events.map(({ sequence }) => sequence)).toEqual(events.map((_, index) => index + 1));
      expect(new Set(events.map(({ eventId }) => eventId)).size).toBe(events.length);
      const ends = events.filter(({ kind }) => ['run.completed', 'run.failed', 'run.interrupted'].includes(kind));
      expect(ends).toHaveLength(1);
      // An attempt whose worker died between the spawn and its record was dispatched, and never recorded as started.
      const started = events.filter(({ kind }) => kind === 'run.started').length;
      expect(id === status.attemptId ? [1] : [0, 1]).toContain(started);
      expect(await findByEnvironment('BOARD_ATTEMPT_ID', id)).toEqual([]);
    }
    await expectCountedOnce(service, taskId);
    const task = await service.call.ok('GET', `/api/tasks/${taskId}`);
    expect(task).toMatchObject({ status: 'done', attempt: { id: status.attemptId, result: 'success' } });
    const path = status.taskEnvelope.workspace.path;
    expect(await git(path, 'log', '--format=%s')).toBe('Work\nFirst');
    expect(await git(path, 'status', '--porcelain')).toBe('');
  }
}

/** The record of a run that should have succeeded. */
async function whyItFailed({ call }: Service, taskId: string): Promise<string> {
  const { attempt } = await call.status(taskId);
  const recovery = await call.ok('GET', `/api/agents/${taskId}/recovery`);
  const events = await call.events(taskId, attempt.id);
  return inspect({ attempt, recovery, events }, { depth: 8 });
}

/** Each attempt's start, end and usage are counted once, and the task has cost what its attempts have. */
async function expectCountedOnce({ call }: Service, taskId: string): Promise<void> {
  const counted: Answer['body'][] = await call.ok('GET', `/api/telemetry/events/task/${taskId}?limit=1000`);
  const keys = counted.map(({ type, attemptId, model }) => `${type} ${attemptId} ${model ?? ''}`);
  expect(new Set(keys).size).toBe(keys.length);
  const tokens = counted.filter(({ type }) => type === 'run.tokens');
  const cost = tokens.reduce((sum, event) => sum + event.cost, 0);
  expect(tokens.length).toBeGreaterThanOrEqual(1);
  expect(counted.filter(({ type, success }) => type === 'run.completed' && success)).toHaveLength(1);
  expect((await call.ok('GET', `/api/tasks/${taskId}`)).actualCost).toBeCloseTo(cost, 6);
}

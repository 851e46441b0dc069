import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { findByEnvironment } from '../../platform/processes/identity';
import { eventually } from '../../platform/testing/eventually';
import { makeTempDir, type TempDir } from '../../platform/testing/temp-dir';
import { scriptAgent } from '../support/caller';
import { aRepository } from '../support/git/repository';
import { kill as killProcess } from '../support/processes/kill';
import { type Service, startService } from '../support/stack/service';
import { allEnded, expectNothingLostOrDoubled, launchAll, type Launched } from './runs';

let files: TempDir;
let witness: string;
let service: Service;

beforeAll(async () => {
  files = await makeTempDir('crash-reattach');
  witness = join(files.path, 'witness');
  writeFileSync(witness, '');
  service = await startService({ WITNESS: witness, BOARD_MAX_RUNS: '6' });
  await service.call.addRepository('sample', await aRepository(files.path));
  await service.call.configureAgents([
    { ...scriptAgent('patient-bee', gate('killed')), type: 'killed', environmentKeys: ['WITNESS'], reattach: true },
    { ...scriptAgent('patient-bee', gate('ended')), type: 'ended', environmentKeys: ['WITNESS'], reattach: true },
    { ...scriptAgent('patient-bee', gate('lost')), type: 'lost', environmentKeys: ['WITNESS'], reattach: true },
    { ...scriptAgent('witnessed-asker'), environmentKeys: ['WITNESS'], reattach: true },
  ]);
});

afterAll(async () => {
  await service.close();
  await files.remove();
});

/** The agents of this type work until the file is there. */
const gate = (type: string): string => join(files.path, `gate-${type}`);

const kill = (part: string): void => void process.kill(service.pids()[part]!, 'SIGKILL');

/** What the agents of these attempts have left in the file, in order. */
const left = (launched: readonly Launched[]): string[] =>
  readFileSync(witness, 'utf8')
    .split('\n')
    .filter((line) => launched.some(({ attemptId }) => line.includes(attemptId)))
    .map((line) => line.split(' ').slice(0, 2).join(' '));

const allWorking = (launched: readonly Launched[]): Promise<void> =>
  eventually(
    async () => {
      const statuses = await Promise.all(launched.map(({ taskId }) => service.call.status(taskId)));
      expect(statuses.every(({ lastSequence }) => lastSequence >= 3)).toBe(true);
    },
    { everyMs: 50 },
  );

/** Each run continued with the one process it began with, and nothing is left of that. */
async function expectGoneOnWith(launched: readonly Launched[]): Promise<void> {
  for (const { taskId, attemptId } of launched) {
    expect((await service.call.status(taskId)).attemptId).toBe(attemptId);
    const events = await service.call.events(taskId, attemptId);
    const recovered = events.find(({ kind }) => kind === 'run.recovered');
    expect(recovered).toMatchObject({ payload: { reattached: true, hostId: expect.any(String) } });
    const steps = events.filter(({ kind }) => kind === 'progress').map(({ payload }) => payload.message);
    expect(new Set(steps).size).toBe(steps.length);
    expect(await findByEnvironment('BOARD_ATTEMPT_ID', attemptId)).toEqual([]);
  }
  await eventually(() => expect(readdirSync(join(service.dataDir, 'agents'))).toEqual([]));
}

const recoveredIn = async ({ taskId, attemptId }: Launched): Promise<number> =>
  (await service.call.events(taskId, attemptId)).filter(({ kind }) => kind === 'run.recovered').length;

describe('a reattached agent', () => {
  test('kill -9 of the worker, then of everything: agents are resumed, in the same attempt', async () => {
    const launched: Launched[] = [];
    await launchAll(service, 4, launched, { agent: 'killed' });
    await allWorking(launched);
    const { controls } = (await service.call.status(launched[0]!.taskId)).controls;
    expect(controls).toContainEqual(
      expect.objectContaining({ action: 'reattach', state: 'supported', available: true }),
    );
    kill('worker');
    await eventually(async () => expect(await Promise.all(launched.map(recoveredIn))).toEqual(launched.map(() => 1)), {
      everyMs: 50,
    });
    for (const part of ['worker', 'temporal', 'api']) {
      kill(part);
    }
    writeFileSync(gate('killed'), '');
    await allEnded(service, launched);
    await expectNothingLostOrDoubled(service, witness, launched);
    await expectGoneOnWith(launched);
    const once = launched.flatMap(({ attemptId }) => [`end ${attemptId}`, `start ${attemptId}`]);
    expect(left(launched).sort()).toEqual(once.sort());
  });

  test('an agent that has asked, and one that ends, while no worker is there', async () => {
    const ends: Launched[] = [];
    const asks: Launched[] = [];
    await launchAll(service, 1, ends, { agent: 'ended' }, 'ends');
    await launchAll(service, 1, asks, { agent: 'witnessed-asker' }, 'asks');
    const pendingOf = async () => {
      const approvals = await service.call.ok('GET', `/api/run-approvals?attemptId=${asks[0]!.attemptId}`);
      expect(approvals).toHaveLength(1);
      return approvals[0];
    };
    await allWorking(ends);
    const before = await eventually(pendingOf);
    // Asked to end, the worker leaves them alone; everything is down until the agent has ended.
    service = await service.restart(async () => {
      writeFileSync(gate('ended'), '');
      await eventually(() => expect(left(ends)).toContain(`end ${ends[0]!.attemptId}`));
    });
    expect(existsSync(join(service.dataDir, 'agents', asks[0]!.attemptId))).toBe(true);
    await eventually(async () => {
      const events = await service.call.events(asks[0]!.taskId, asks[0]!.attemptId);
      expect(events.map(({ kind }) => kind)).toContain('run.recovered');
    });
    const after = await pendingOf();
    expect(after).toEqual(before);
    await service.call.ok('POST', `/api/run-approvals/${after.id}/decision`, {
      decision: 'approved',
      expectedRevision: after.revision,
      expectedActionHash: after.actionHash,
    });
    await allEnded(service, [...ends, ...asks]);
    await expectNothingLostOrDoubled(service, witness, ends);
    await expectGoneOnWith([...ends, ...asks]);
    expect((await service.call.status(asks[0]!.taskId)).attempt.completion).toMatchObject({ status: 'success' });
    expect(left(asks).filter((line) => line.startsWith('applied'))).toHaveLength(1);
  });

  /** Ends an agent and its holder at once, so that its end is not recorded. */
  const killUnnoticed = ({ attemptId }: Launched): Promise<void> =>
    eventually(async () => {
      const processes = await findByEnvironment('BOARD_ATTEMPT_ID', attemptId);
      // The holder leads their group; of the others there is none of that name.
      for (const { pid } of processes) {
        killProcess(-pid);
      }
      expect(processes).toEqual([]);
    });

  test('with an empty Temporal agents are resumed once more, and one that has died is tried again', async () => {
    const outlives: Launched[] = [];
    const dies: Launched[] = [];
    await launchAll(service, 2, outlives, { agent: 'lost' }, 'outlives');
    await launchAll(service, 1, dies, { agent: 'lost' }, 'dies');
    const launched = [...outlives, ...dies];
    await allWorking(launched);
    kill('worker');
    await eventually(async () => expect(await Promise.all(launched.map(recoveredIn))).toEqual([1, 1, 1]), {
      everyMs: 50,
    });
    const before = await Promise.all(outlives.map(({ taskId }) => service.call.status(taskId)));
    for (const part of ['temporal', 'worker']) {
      kill(part);
    }
    service = await service.restart(async (dataDir) => {
      await killUnnoticed(dies[0]!);
      await rm(join(dataDir, 'temporal'), { recursive: true });
    });
    await eventually(
      async () => {
        for (const [index, run] of outlives.entries()) {
          expect(await recoveredIn(run)).toBeGreaterThanOrEqual(2);
          // It continues where it was, and its events are recorded.
          expect((await service.call.status(run.taskId)).lastSequence).toBeGreaterThan(before[index].lastSequence + 1);
        }
      },
      { everyMs: 50 },
    );
    writeFileSync(gate('lost'), '');
    await allEnded(service, launched);
    await expectNothingLostOrDoubled(service, witness, launched);
    await expectGoneOnWith(outlives);
    const once = outlives.flatMap(({ attemptId }) => [`end ${attemptId}`, `start ${attemptId}`]);
    expect(left(outlives).sort()).toEqual(once.sort());

    const { taskId, attemptId } = dies[0]!;
    const { attempts } = await service.call.ok('GET', `/api/agents/${taskId}/attempts`);
    expect(attempts).toMatchObject([
      { parentAttemptId: attemptId, completion: { status: 'success' } },
      {
        id: attemptId,
        completion: {
          status: 'interrupted',
          harness: { ended: 'lost' },
          summary: 'The workflow of the run was lost, and the agent with it: process-not-found.',
        },
      },
    ]);
    for (const { id } of [...attempts, ...before.map(({ attempt }) => attempt)]) {
      expect(await service.call.ok('GET', `/api/admission/${id}`)).toMatchObject({ state: 'released' });
    }
  });
});

import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client, Connection } from '@temporalio/client';
import { eventually } from '../../../platform/testing/eventually';
import { aRepository } from '../../support/git/repository';
import { type Service, startService } from '../../support/stack/service';
import { fill } from './fill';

/**
 * The whole service, whose disk fills while agents work, two of which outlive their worker: they end while there is no space
 * in the task files, the stores and Temporal. Run on a disk of its own, which is the first argument; the second is a
 * directory on another one.
 */
const [disk = '', elsewhere = ''] = process.argv.slice(2);
const filler = join(disk, 'filler');
const go = join(elsewhere, 'go');
const endedFile = (type: string): string => join(elsewhere, `${type}-ended`);

/** Reports that it works, waits, and ends with a result and its exit code. */
const agent = (type: string, status: 'success' | 'failed', changes: object = {}) => ({
  type,
  name: type,
  provider: 'process',
  command: '/bin/sh',
  args: [
    '-c',
    `echo '{"type":"progress","message":"working"}'; until [ -e '${go}' ]; do sleep 0.05; done
     for n in $(seq 200); do echo "while full $n"; done
     echo '{"type":"result","status":"${status}","summary":"${type} ended"}'
     : >'${endedFile(type)}'; [ ${status} = success ]`,
  ],
  ...changes,
});
const agents = [
  agent('plain', 'success'),
  agent('held', 'success', { reattach: true }),
  agent('held-failing', 'failed', { reattach: true }),
];

const withinMs = 90_000;

/** Writes until nothing more is accepted: space that SQLite had allocated before is used up as well. */
async function fillEverything({ call, temporalAddress }: Service): Promise<string[]> {
  fill(filler);
  const connection = await Connection.connect({ address: temporalAddress });
  const full: string[] = [];
  try {
    const client = new Client({ connection });
    for (let number = 0; ; number += 1) {
      const args = ['x'.repeat(500_000)];
      const start = client.workflow.start('none', { workflowId: `filler-${number}`, taskQueue: 'none', args });
      const taken = await start.then(
        () => true,
        () => false,
      );
      if (!taken) {
        break;
      }
    }
    full.push('Temporal');
  } finally {
    await connection.close();
  }
  const large = { description: 'x'.repeat(2_000), taskDefaults: { descriptionTemplate: 'x'.repeat(10_000) } };
  for (const [path, bodyOf] of [
    ['/api/tasks', (title: string) => ({ title })],
    ['/api/templates', (name: string) => ({ name, ...large })],
  ] as const) {
    for (let number = 0; ; number += 1) {
      const { status, body } = await call.post(path, bodyOf(`while full ${number}`));
      if (status < 400) {
        continue;
      }
      full.push(status === 507 ? body.details.full : JSON.stringify({ status, body }));
      break;
    }
  }
  return full;
}

async function main(): Promise<void> {
  const service = await startService({ BOARD_RUN_RETRIES: '0' }, { within: disk });
  const { call } = service;
  try {
    await call.addRepository('sample', await aRepository(elsewhere));
    await call.configureAgents(agents);
    const runs: { type: string; taskId: string }[] = [];
    for (const { type } of agents) {
      const { id: taskId } = await call.createTask({ title: type, git: { repo: 'sample' } });
      await call.start(taskId, { agent: type });
      runs.push({ type, taskId });
    }
    await eventually(async () => {
      for (const { taskId } of runs) {
        if ((await call.status(taskId)).lastSequence < 2) {
          throw new Error('not all work');
        }
      }
    });
    const before = service.pids();
    const full = await fillEverything(service);
    writeFileSync(go, '');
    await eventually(() => {
      if (!runs.every(({ type }) => existsSync(endedFile(type)))) {
        throw new Error('not all have ended');
      }
    });
    const ready = (await call.get('/health/ready')).status;
    const running = await Promise.all(runs.map(async ({ taskId }) => (await call.status(taskId)).state));
    rmSync(filler);
    const ends: Record<string, unknown> = {};
    for (const { type, taskId } of runs) {
      const { attemptId, attempt } = await eventually(
        async () => {
          const status = await call.status(taskId);
          if (status.state !== 'ended') {
            throw new Error(`${type} is ${status.state}`);
          }
          return status;
        },
        { withinMs },
      );
      const events = await call.events(taskId, attemptId);
      const { status, summary, harness } = attempt.completion;
      ends[type] = {
        completion: [status, summary, harness.exitCode],
        task: (await call.ok('GET', `/api/tasks/${taskId}`)).status,
        last: events.at(-1)?.kind,
        lines: events.filter(({ kind }) => kind === 'stream.stdout').length,
      };
    }
    const now = service.pids();
    const survived = Object.keys(before).filter((part) => before[part] === now[part]);
    const created = (await call.post('/api/tasks', { title: 'afterwards' })).status;
    process.stdout.write(JSON.stringify({ full, ready, running, ends, survived, created }));
  } catch (error) {
    for (const part of ['supervisor', 'worker', 'temporal']) {
      process.stderr.write(`${readFileSync(join(service.dataDir, 'logs', `${part}.log`), 'utf8').slice(-3_000)}\n`);
    }
    throw error;
  } finally {
    rmSync(filler, { force: true });
    await service.close();
  }
}

void main();

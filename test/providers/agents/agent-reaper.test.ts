import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { findByEnvironment, findMarked, identify } from '../../../platform/processes/identity';
import { eventually } from '../../../platform/testing/eventually';
import { makeTempDir, type TempDir } from '../../../platform/testing/temp-dir';
import { endOrphans } from '../../../providers/agents/local/end-attempt';
import type { AgentDispatch } from '../../../providers/agents/provider';
import { aDispatch } from './agent-fixture';

const root = join(__dirname, '..', '..', '..');
let directory: TempDir;
let dispatches: AgentDispatch[];
let worker: ChildProcess | undefined;

beforeEach(async () => {
  directory = await makeTempDir('reaper');
  dispatches = [];
});
afterEach(async () => {
  worker?.kill('SIGKILL');
  for (const { attemptId } of dispatches) {
    await endOrphans(attemptId, undefined, 0);
  }
  await directory.remove();
});

/** A worker in a process of its own, and what it has printed. */
function startWorker(family: 'process' | 'acp' = 'process'): { pid: number; output: () => string } {
  const args = ['-r', join(root, 'test/support/register-ts.cjs'), join(root, 'test/support/runs/agent-worker.ts')];
  const child = spawn(process.execPath, [...args, JSON.stringify({ family, dispatches })], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  worker = child;
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (output += text));
  return { pid: child.pid!, output: () => output };
}

async function anAgent(script: string, changes: Parameters<typeof aDispatch>[2] = {}): Promise<AgentDispatch> {
  const dispatch = await aDispatch(directory, script, changes);
  dispatches.push(dispatch);
  return dispatch;
}

const left = () => findMarked(dispatches.map(({ attemptId }) => ({ name: 'BOARD_ATTEMPT_ID', value: attemptId })));
const noneLeft = () => eventually(async () => expect(await left()).toEqual([]), { withinMs: 30_000 });
const sizeOf = (name: string): number =>
  statSync(join(directory.path, 'worktree', name), { throwIfNoEntry: false })?.size ?? 0;
const reaperOf = (output: string): number => Number(/reaper (\d+)/.exec(output)?.[1]);

/** The size of a file once it has stopped to grow for longer than any agent here pauses. */
async function expectStill(name: string): Promise<void> {
  const before = sizeOf(name);
  await delay(300);
  expect(sizeOf(name)).toBe(before);
}

const ledger = (name: string) => `while :; do echo line >> ${name}; sleep 0.005; done`;

describe('agents whose worker is killed, and no other worker comes', () => {
  it('stop to work: those that ignore SIGTERM, left their group, or are many', async () => {
    await anAgent(ledger('plain'));
    await anAgent(`trap '' TERM; ${ledger('deaf')}`);
    await anAgent(`setsid sh -c '${ledger('apart')}' & setsid sh -c '${ledger('further')}' & wait`);
    const names = ['plain', 'deaf', 'apart', 'further'];
    const { pid, output } = startWorker();
    await eventually(() => expect(names.filter((name) => sizeOf(name) > 50)).toEqual(names));
    process.kill(pid, 'SIGKILL');
    await noneLeft();
    for (const name of names) {
      await expectStill(name);
    }
    // The reaper has nothing more to do.
    await eventually(async () => expect(await identify(reaperOf(output()))).toBeUndefined());
  });

  it('stop to work when they speak the Agent Client Protocol', async () => {
    await anAgent(`trap '' TERM; ${ledger('acp')}`);
    const { pid } = startWorker('acp');
    await eventually(() => expect(sizeOf('acp')).toBeGreaterThan(50));
    process.kill(pid, 'SIGKILL');
    await noneLeft();
  });

  it('are ended at whatever moment of their start it is', async () => {
    for (let moment = 0; moment < 3; moment += 1) {
      for (let n = 0; n < 8; n += 1) {
        await anAgent(ledger(`${moment}-${n}`));
      }
      const { pid, output } = startWorker();
      const exited = once(worker!, 'exit');
      await eventually(() => expect(output()).toContain('reaper'), { everyMs: 1 });
      process.kill(pid, 'SIGKILL');
      await exited;
      await noneLeft();
      dispatches = [];
    }
  });

  it('are ended also when the reaper was killed before', async () => {
    await anAgent(`trap '' TERM; ${ledger('guarded')}`);
    const { pid, output } = startWorker();
    await eventually(() => expect(sizeOf('guarded')).toBeGreaterThan(50));
    await eventually(() => expect(reaperOf(output())).toBeGreaterThan(0));
    const first = reaperOf(output());
    process.kill(first, 'SIGKILL');
    const second = await eventually(() => {
      const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ').map(Number);
      const found = children.find((child) => readFileSync(`/proc/${child}/cmdline`, 'utf8').includes('reaper-process'));
      if (found === undefined || found === first) {
        throw new Error('no reaper');
      }
      return found;
    });
    // It is a process before it has the list of what it guards.
    await eventually(() => expect(output()).toContain(`guarding ${second}`));
    process.kill(pid, 'SIGKILL');
    await noneLeft();
  });

  it('work on when they are to outlive it', async () => {
    const dispatch = await anAgent(ledger('held'));
    dispatches = [{ ...dispatch, spoolDir: join(directory.path, 'agents', dispatch.attemptId) }];
    await anAgent(ledger('plain'));
    const { pid } = startWorker();
    await eventually(() => expect([sizeOf('held') > 50, sizeOf('plain') > 50]).toEqual([true, true]));
    process.kill(pid, 'SIGKILL');
    const held = dispatches[0]!.attemptId;
    await eventually(async () =>
      expect(await findByEnvironment('BOARD_ATTEMPT_ID', dispatches[1]!.attemptId)).toEqual([]),
    );
    const before = sizeOf('held');
    await eventually(() => expect(sizeOf('held')).toBeGreaterThan(before));
    expect(await findByEnvironment('BOARD_ATTEMPT_ID', held)).not.toEqual([]);
  });
});

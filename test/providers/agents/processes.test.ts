import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  findByEnvironment,
  findGroup,
  identify,
  identifyChild,
  isSameProcess,
  startedWith,
} from '../../../platform/processes/identity';
import { endProcess } from '../../../platform/processes/kill-process-group';
import { parsePsLine, parseStat } from '../../../platform/processes/process-table';
import { eventually } from '../../../platform/testing/eventually';
import { createProcessProvider } from '../../../providers/agents/process/process-provider';

const children: ChildProcess[] = [];

/** Lasts, and prints a line when it has replaced its shell: while it does so, it shows no environment. */
const idle = 'exec tail -n 1 -f /etc/passwd';

function start(script: string, options: { detached?: boolean; env?: Record<string, string> } = {}): ChildProcess {
  const child = spawn('sh', ['-c', script], {
    detached: options.detached ?? true,
    env: { PATH: process.env.PATH, ...options.env },
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  children.push(child);
  return child;
}

const firstLine = async (child: ChildProcess): Promise<string> => {
  const [chunk] = (await once(child.stdout!, 'data')) as [Buffer];
  return chunk.toString('utf8').trim();
};

afterEach(async () => {
  for (const child of children.splice(0)) {
    if (child.exitCode !== null || child.signalCode !== null) {
      continue;
    }
    child.kill('SIGKILL');
    await once(child, 'exit');
  }
});

describe('identity', () => {
  it('names a process for good', async () => {
    const child = start(idle);
    await firstLine(child);
    const identity = (await identify(child.pid!))!;
    expect(identity).toEqual({ pid: child.pid, startTime: expect.stringMatching(/^\d+$/), bootId: expect.any(String) });
    expect(await isSameProcess(identity)).toBe(true);
    expect(await isSameProcess({ ...identity, startTime: '1' })).toBe(false);
    expect(await isSameProcess({ ...identity, bootId: 'another-boot' })).toBe(false);
    child.kill('SIGKILL');
    await once(child, 'exit');
    expect(await isSameProcess(identity)).toBe(false);
  });

  it('names a child that has ended already', async () => {
    const child = start('exit 0');
    expect(identifyChild(child.pid!)).toMatchObject({ pid: child.pid });
    await once(child, 'exit');
    expect(await identify(child.pid!)).toBeUndefined();
  });

  it('reads process names with parentheses, spaces and line ends', () => {
    const rest = 'S 1 4242 4242 0 -1 4194304 106 0 0 0 0 0 0 0 20 0 1 0 987654 0 0';
    const expected = { pid: 4242, groupId: 4242, startTime: '987654', zombie: false };
    for (const name of ['sh', 'a b', ') R 1 2 (', 'x)\n(', ')))']) {
      expect(parseStat(`4242 (${name}) ${rest}`)).toEqual(expected);
    }
    expect(parseStat('4242 (sh) Z 1 4242')).toBeUndefined();
  });

  it('reads the table of other systems', () => {
    expect(parsePsLine('  501  499 Ss   Mon Jan  5 10:11:12 2026  ')).toEqual({
      pid: 501,
      groupId: 499,
      startTime: 'Mon Jan  5 10:11:12 2026',
      zombie: false,
    });
    expect(parsePsLine('')).toBeUndefined();
  });

  it('reports what a process was started with, unless it shows nothing, as one does that is about to be gone', async () => {
    const child = start(idle, { env: { TOLD: 'yes' } });
    await firstLine(child);
    expect(startedWith(child.pid!, 'TOLD', 'yes')).toBe(true);
    expect(startedWith(child.pid!, 'TOLD', 'ye')).toBe(false);
    const silent = start('exec env -i tail -n 1 -f /etc/passwd');
    await firstLine(silent);
    expect(startedWith(silent.pid!, 'TOLD', 'yes')).toBeUndefined();
    child.kill('SIGKILL');
    await once(child, 'exit');
    expect(startedWith(child.pid!, 'TOLD', 'yes')).toBeUndefined();
  });

  it('finds processes by an exact variable of their environment', async () => {
    const mark = `mark-${process.pid}-${performance.now()}`;
    const child = start(idle, { env: { SOME_MARK: mark } });
    const other = start(idle, { env: { SOME_MARK: `${mark}x`, NOT_SOME_MARK: mark } });
    await Promise.all([firstLine(child), firstLine(other)]);
    const found = await findByEnvironment('SOME_MARK', mark);
    expect(found.map(({ pid }) => pid)).toEqual([child.pid]);
  });
});

describe('endProcess', () => {
  it('ends a group, also members that ignore the request', async () => {
    const child = start(`trap '' TERM; sh -c "trap '' TERM; echo \\$\\$; while :; do sleep 0.05; done" & wait`);
    const member = Number(await firstLine(child));
    const identity = (await identify(child.pid!))!;
    expect((await findGroup(child.pid!)).map(({ pid }) => pid)).toEqual(expect.arrayContaining([child.pid, member]));
    await endProcess(identity, { graceMs: 50 });
    expect(await findGroup(child.pid!)).toEqual([]);
    expect(await identify(member)).toBeUndefined();
  });

  it('waits for members that outlive their leader', async () => {
    const child = start(`sh -c "trap '' TERM; echo up; while :; do sleep 0.05; done" & wait`);
    await firstLine(child);
    await endProcess((await identify(child.pid!))!, { graceMs: 50 });
    expect(await findGroup(child.pid!)).toEqual([]);
  });

  it('leaves a process alone that only has the same pid', async () => {
    const child = start(idle);
    await firstLine(child);
    const identity = (await identify(child.pid!))!;
    await endProcess({ ...identity, startTime: '1' }, { graceMs: 10 });
    await endProcess({ ...identity, bootId: 'another-boot' }, { graceMs: 10 });
    expect(await isSameProcess(identity)).toBe(true);
  });

  it('never signals itself, its group or init', async () => {
    const own = (await identify(process.pid))!;
    const init = (await identify(1))!;
    await endProcess([own, init, { ...own, pid: 0 }, { ...own, pid: -1 }], { graceMs: 10 });
    expect(await isSameProcess(own)).toBe(true);
  });

  it('ends a process that leads no group by itself', async () => {
    const child = start(idle, { detached: false });
    await firstLine(child);
    await endProcess((await identify(child.pid!))!, { graceMs: 1_000 });
    expect(await identify(child.pid!)).toBeUndefined();
  });
});

describe('orphans of a dead worker', () => {
  it('are found by identity and by their environment, and nothing else is touched', async () => {
    const attemptId = `attempt_orphan${process.pid}`;
    const env = { BOARD_ATTEMPT_ID: attemptId };
    const agent = start(idle, { env });
    const stray = start(idle, { env });
    const bystander = start(idle, { env: { BOARD_ATTEMPT_ID: `${attemptId}x` } });
    await Promise.all([agent, stray, bystander].map(firstLine));
    const identity = (await identify(agent.pid!))!;

    const ended = await createProcessProvider().endOrphans(attemptId, identity, 1_000);

    expect(ended.map(({ pid }) => pid).sort()).toEqual([agent.pid, stray.pid].sort());
    await eventually(() => expect([agent.signalCode, stray.signalCode]).toEqual(['SIGTERM', 'SIGTERM']));
    expect(await identify(bystander.pid!)).toBeDefined();
    expect(await createProcessProvider().endOrphans(attemptId, identity, 1_000)).toEqual([]);
  });
});

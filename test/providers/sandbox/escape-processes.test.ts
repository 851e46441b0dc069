import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { findByEnvironment } from '../../../platform/processes/identity';
import { aSandbox } from './sandbox-fixture';

let box: Awaited<ReturnType<typeof aSandbox>>;
beforeEach(async () => {
  box = await aSandbox();
});
afterEach(() => box.remove());

describe('processes of a sandbox', () => {
  test('see, signal and trace no process of the host', async () => {
    const victim = spawn('sleep', ['600'], { stdio: 'ignore' });
    const ended = once(victim, 'exit');
    try {
      const { out } = await box.run(
        {},
        `kill -9 ${victim.pid} 2>/dev/null && echo signalled
         [ -e /proc/${victim.pid}/environ ] && grep -q sleep /proc/${victim.pid}/comm && echo seen
         grep -l '^sleep$' /proc/[0-9]*/comm 2>/dev/null
         nsenter -t ${victim.pid} -m true 2>/dev/null && echo entered
         grep -h '^Cap\\(Eff\\|Bnd\\)' /proc/self/status | cut -f2; unshare -U true 2>/dev/null && echo namespaces
         cat /proc/1/comm; hostname`,
      );
      expect(out.split('\n')).toEqual(['0000000000000000', '0000000000000000', 'bwrap', 'sandbox']);
      expect(victim.exitCode).toBeNull();
    } finally {
      victim.kill('SIGKILL');
      await ended;
    }
  });

  test('end with the agent, also those in sessions of their own', async () => {
    const { outcome, out } = await box.run(
      {},
      `setsid nohup sh -c 'trap "" TERM HUP; sleep 600' >/dev/null 2>&1 & setsid sleep 600 </dev/null >/dev/null 2>&1 & echo started; exit 7`,
    );
    expect({ out, outcome }).toMatchObject({ out: 'started', outcome: { ended: 'exit', exitCode: 7, signal: null } });
    expect(await findByEnvironment('HOME', box.home)).toEqual([]);
  });

  test('are given the grace to end by themselves, and are killed after it', async () => {
    const polite = `trap 'echo bye; exit 3' TERM; echo ready; while :; do sleep 0.05; done`;
    const first = await box.run({}, polite, { timeoutMs: 1_500, stopGraceMs: 30_000 });
    expect(first).toMatchObject({ out: 'ready\nbye', outcome: { ended: 'timeout', exitCode: 3 } });
    const stubborn = `trap '' TERM; echo ready; while :; do sleep 0.05; done`;
    const second = await box.run({}, stubborn, { timeoutMs: 1_500, stopGraceMs: 100 });
    expect(second).toMatchObject({ out: 'ready', outcome: { ended: 'timeout', signal: 'SIGKILL' } });
    expect(await findByEnvironment('HOME', box.home)).toEqual([]);
  });

  test('report the signal that ended them', async () => {
    const { outcome } = await box.run({}, 'kill -SEGV $$');
    expect(outcome).toMatchObject({ ended: 'exit', exitCode: null, signal: 'SIGSEGV' });
  });

  test('are limited in number by the preset', async () => {
    const { features } = await box.host.probe();
    expect(features?.processes).toMatch(/^(cgroup|rlimit)$/);
    const { out, outcome } = await box.run(
      { resources: { processes: 40 } },
      'n=0; while [ $n -lt 200 ]; do sleep 600 & n=$((n+1)); done 2>/dev/null; echo all',
    );
    expect(out).not.toContain('all');
    expect(outcome).toMatchObject({
      sandbox: { limits: { processes: { mechanism: features?.processes, value: 40 } } },
    });
    expect(await findByEnvironment('HOME', box.home)).toEqual([]);
  });

  test('are limited in memory by the preset', async () => {
    const { features } = await box.host.probe();
    expect(features?.memory).toMatch(/^(cgroup|rlimit)$/);
    const script = join(box.worktree, 'eat.cjs');
    await writeFile(
      script,
      'const all = []; for (let n = 0; n < 40; n++) all.push(Buffer.alloc(16 << 20, 1)); console.log("all");',
    );
    const { out, outcome } = await box.run({ resources: { memoryMb: 256 } }, `exec ${process.execPath} eat.cjs`);
    expect(out).not.toContain('all');
    expect(outcome.exitCode).not.toBe(0);
  });
});

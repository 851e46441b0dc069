import { tmpdir } from 'node:os';
import { readProcess } from '../../platform/processes/process-table';
import { programRunner } from '../../platform/processes/programs/program-runner';
import { eventually } from '../../platform/testing/eventually';

const shell = (script: string) =>
  programRunner()({
    file: '/bin/sh',
    args: ['-c', script],
    cwd: tmpdir(),
    env: { PATH: process.env.PATH },
    timeoutMs: 60_000,
    maxOutputBytes: 1_000,
  });
/** The process that starts our programs. */
const helper = async () => Number((await shell('echo $PPID')).stdout);
const isGone = async (pid: number) => (await readProcess(pid))?.zombie ?? true;

describe('program runner', () => {
  it('starts programs from one helper process', async () => {
    const pids = await Promise.all([helper(), helper()]);
    expect(pids[0]).toBe(pids[1]);
    expect(pids[0]).not.toBe(process.pid);
  });

  it('reports what a helper ran when it died, and starts another', async () => {
    const first = await helper();
    await expect(shell('kill -9 $PPID; sleep 60')).resolves.toMatchObject({ exitCode: null, failure: 'killed' });
    expect(await helper()).not.toBe(first);
  });

  it('ends a helper that has nothing to run', async () => {
    jest.useFakeTimers({ doNotFake: ['performance', 'nextTick', 'setImmediate', 'queueMicrotask', 'Date'] });
    try {
      const first = await helper();
      jest.advanceTimersByTime(60_000);
      await eventually(async () => expect(await isGone(first)).toBe(true));
      expect(await helper()).not.toBe(first);
    } finally {
      jest.useRealTimers();
    }
  });

  it('keeps a helper for as long as a program runs', async () => {
    jest.useFakeTimers({ doNotFake: ['performance', 'nextTick', 'setImmediate', 'queueMicrotask', 'Date'] });
    try {
      const first = await helper();
      const running = shell('sleep 0.3; echo done');
      jest.advanceTimersByTime(60_000);
      await expect(running).resolves.toMatchObject({ exitCode: 0, stdout: 'done\n' });
      expect(await helper()).toBe(first);
    } finally {
      jest.useRealTimers();
    }
  });
});

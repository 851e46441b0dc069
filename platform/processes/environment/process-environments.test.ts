import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { environmentHolds, environmentOf, searchEnvironments } from './process-environments';

describe('environments of processes', () => {
  const children: ChildProcess[] = [];

  const start = async (env: Record<string, string>): Promise<number> => {
    const child = spawn(process.execPath, ['-e', 'process.stdin.resume(); console.log(1)'], {
      env,
      stdio: ['pipe', 'pipe', 'ignore'],
    });
    children.push(child);
    await once(child.stdout, 'data');
    return child.pid!;
  };

  afterEach(async () => {
    for (const child of children.splice(0)) {
      child.kill('SIGKILL');
      await once(child, 'exit');
    }
  });

  test.each([
    ['the first variable', 'MARK=one\0B=2\0', true],
    ['the last one', 'A=1\0MARK=one\0', true],
    ['the last one without an end', 'A=1\0MARK=one', true],
    ['a longer value before it', 'MARK=one-more\0MARK=one\0', true],
    ['a longer value', 'MARK=one-more\0', false],
    ['a longer name', 'MY_MARK=one\0', false],
    ['the value of another variable', 'A= MARK=one\0', false],
    ['nothing', '', false],
  ])('hold a marker as %s', (_as, text, holds) => {
    expect(environmentHolds(Buffer.from(text), { name: 'MARK', value: 'one' })).toBe(holds);
  });

  test('are read whole, however large', async () => {
    const part = 'x'.repeat(100_000);
    const pid = await start({ A: part, B: part, C: part, MARK: 'last' });
    expect(environmentHolds(environmentOf(pid), { name: 'MARK', value: 'last' })).toBe(true);
  });

  test('searched for while a search is under way are read once for all of them, after it', async () => {
    const looks: string[] = [];
    const search = (name: string) => searchEnvironments(() => void looks.push(name));
    let during: Promise<unknown> | undefined;
    await searchEnvironments(() => {
      during ??= Promise.all([search('one'), search('other')]);
      looks.push('first');
    });
    await during;
    const first = looks.filter((name) => name === 'first').length;
    const pairs = looks.filter((name) => name === 'one').length;
    expect(pairs).toBeGreaterThan(0);
    expect(looks).toEqual([
      ...Array.from({ length: first }, () => 'first'),
      ...Array.from({ length: pairs }, () => ['one', 'other']).flat(),
    ]);
  });

  test('find a process that was started before the search was asked for, while another one is under way', async () => {
    const pid = await start({ MARK: 'late' });
    let during: Promise<number[]> | undefined;
    const find = () => searchEnvironments((each) => (each === pid ? each : undefined));
    await searchEnvironments(() => void (during ??= find()));
    await expect(during).resolves.toEqual([pid]);
  });

  test('a search that fails is its own failure, and the next one is made', async () => {
    const failing = searchEnvironments(() => {
      throw new Error('no');
    });
    await expect(failing).rejects.toThrow('no');
    await expect(searchEnvironments((pid) => (pid === process.pid ? pid : undefined))).resolves.toEqual([process.pid]);
  });
});

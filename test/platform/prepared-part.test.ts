import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createLog } from '../../platform/log/log';
import { type NodePart, nodePart } from '../../platform/processes/parts/node-part';
import { supervise, type Supervision } from '../../platform/processes/parts/supervisor';
import { eventually } from '../../platform/testing/eventually';
import { makeTempDir, type TempDir } from '../../platform/testing/temp-dir';
import { loadFirst } from '../support/processes/node-options';

const log = createLog({ name: 'test', level: 'silent' });

describe('a part that was prepared', () => {
  let directory: TempDir;
  let supervision: Supervision | undefined;
  const journal = () => join(directory.path, 'journal');
  const reported = (): string[] => (existsSync(journal()) ? readFileSync(journal(), 'utf8').trim().split('\n') : []);

  const system = {
    ...process.env,
    NODE_OPTIONS: loadFirst(join(__dirname, '..', 'support', 'register-ts.cjs')),
  };
  const part = (settings: NodeJS.ProcessEnv = {}): NodePart =>
    nodePart({
      name: 'part',
      script: join(__dirname, 'fixtures', 'part.ts'),
      environment: () => ({ ...system, PART_JOURNAL: journal(), PART_NAME: 'part', ...settings }),
      system,
      output: { file: join(directory.path, 'output') },
    });
  const output = () => readFileSync(join(directory.path, 'output'), 'utf8');

  beforeEach(async () => {
    directory = await makeTempDir('prepared');
  });

  afterEach(async () => {
    await supervision?.stop();
    supervision = undefined;
    await directory.remove();
  });

  test('waits for its settings, and is the process that is started', async () => {
    const prepared = part();
    const pid = await prepared.prepare();
    expect(reported()).toEqual([]);
    supervision = await supervise([prepared], { log });
    await eventually(() => expect(prepared.isReady()).toBe(true));
    expect(reported()).toEqual([`part started ${pid}`]);
    expect(supervision.pids()).toEqual({ part: pid });
  });

  test('is another process when it died before it was started, and after it has died', async () => {
    const prepared = part();
    const first = await prepared.prepare();
    process.kill(first, 'SIGKILL');
    await eventually(() => expect(existsSync(`/proc/${first}/exe`)).toBe(false));
    supervision = await supervise([prepared], { log, backoff: { firstMs: 1, maxMs: 2 } });
    await eventually(() => expect(prepared.isReady()).toBe(true));
    const { part: second } = supervision.pids();
    expect(second).not.toBe(first);
    process.kill(second!, 'SIGKILL');
    await eventually(() => expect(reported()).toHaveLength(2));
    expect(supervision.pids().part).not.toBe(second);
  });

  test('ends without a word when it is not needed', async () => {
    const prepared = part();
    const pid = await prepared.prepare();
    await prepared.discard();
    expect(() => process.kill(pid, 0)).toThrow('ESRCH');
    expect([reported(), output()]).toEqual([[], '']);
    // Once it was discarded there is nothing left to discard.
    await prepared.discard();
  });
});

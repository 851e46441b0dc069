import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { makeTempDir, type TempDir } from '../../../platform/testing/temp-dir';

const support = join(__dirname, '..', '..', 'support');

describe('starts of the service at the same time', () => {
  let dir: TempDir;
  const children: ChildProcess[] = [];

  async function startClaimant() {
    const args = ['-r', join(support, 'register-ts.cjs'), join(support, 'processes', 'claimant.ts')];
    const child = spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'inherit'] });
    children.push(child);
    const lines = createInterface({ input: child.stdout });
    await once(lines, 'line');
    return async (dataDir: string): Promise<unknown> => {
      const answered = once(lines, 'line');
      child.stdin.write(`${dataDir}\n`);
      return (await answered)[0];
    };
  }

  beforeAll(async () => {
    dir = await makeTempDir('claims');
  });
  afterAll(async () => {
    await Promise.all(
      children.map((child) => {
        child.kill('SIGKILL');
        return once(child, 'close');
      }),
    );
    await dir.remove();
  });

  it('give a data directory to exactly one, whether it is new or of a service that was killed', async () => {
    const claimants = await Promise.all([1, 2, 3].map(startClaimant));
    for (let round = 0; round < 40; round += 1) {
      const dataDir = join(dir.path, String(round));
      const mark = join(dataDir, 'runtime', 'supervisor.json');
      if (round % 2 === 1) {
        await mkdir(join(dataDir, 'runtime'), { recursive: true, mode: 0o700 });
        await writeFile(mark, JSON.stringify({ pid: 1, startTime: 'of a process that was killed', bootId: 'earlier' }));
      }
      const answers = await Promise.all(claimants.map((claim) => claim(dataDir)));
      expect(answers.sort()).toEqual(['DataDirectoryInUseError', 'DataDirectoryInUseError', 'claimed']);
      const pids = children.map(({ pid }) => pid);
      expect(pids).toContain((JSON.parse(await readFile(mark, 'utf8')) as { pid: number }).pid);
    }
  });
});

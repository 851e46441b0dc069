import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { makeTempDir, type TempDir } from '../../platform/testing/temp-dir';

const run = promisify(execFile);
const support = join(__dirname, '..', 'support');

/** A leak of 100 bytes an operation would already show twice over. */
const maxGrowth = 48 * 1024 * 1024;

describe('a million operations', () => {
  let directory: TempDir;
  beforeAll(async () => {
    directory = await makeTempDir('soak');
  });
  afterAll(() => directory.remove());

  // In a process of its own: this one's memory is that of every test before it.
  it('keep the memory flat', async () => {
    const script = ['-r', join(support, 'register-ts.cjs'), join(support, 'processes', 'soak.ts'), directory.path];
    const { stdout } = await run(process.execPath, script);
    const { growth, left, documents } = JSON.parse(stdout) as { growth: number; left: number; documents: number };
    expect(growth).toBeLessThan(maxGrowth);
    expect(left).toBeLessThanOrEqual(documents);
  });
});

import { chmod, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { makeTempDir, type TempDir } from '../testing/temp-dir';
import { couldHold, isClosed } from './open-files';

describe('a process that may not be inspected', () => {
  const own = 1000;
  const other = 1001;

  test('could hold a directory when it is our own, whatever other accounts may enter', () => {
    expect([true, false].map((closed) => couldHold(own, closed, own))).toEqual([true, true]);
  });

  test('of another user could hold a directory that others may enter, and no other', () => {
    expect(couldHold(other, false, own)).toBe(true);
    expect(couldHold(other, true, own)).toBe(false);
  });

  test("of the superuser is the system's", () => {
    expect([true, false].map((closed) => couldHold(0, closed, own))).toEqual([false, false]);
  });
});

describe('a directory', () => {
  let dir: TempDir;
  beforeEach(async () => {
    dir = await makeTempDir('holders');
  });
  afterEach(() => dir.remove());

  test('is closed when it, or one above it, lets no other account pass', async () => {
    const inner = join(dir.path, 'outer', 'inner');
    await mkdir(inner, { recursive: true });
    await chmod(join(dir.path, 'outer'), 0o700);
    expect(await isClosed(inner)).toBe(true);
    expect(await isClosed('/')).toBe(false);
  });
});

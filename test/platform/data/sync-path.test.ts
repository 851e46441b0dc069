import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { syncPath } from '../../../platform/processes/disk/sync-path';
import { makeTempDir, type TempDir } from '../../../platform/testing/temp-dir';

let directory: TempDir;

beforeEach(async () => {
  directory = await makeTempDir('sync');
});
afterEach(() => directory.remove());

describe('sync of a path', () => {
  it('is shared by those that wait for the one after it', async () => {
    const path = join(directory.path, 'folder');
    await mkdir(path);
    const first = syncPath(path);
    const [second, third] = [syncPath(path), syncPath(path)];
    expect(second).not.toBe(first);
    expect(third).toBe(second);
    await Promise.all([first, second]);
    expect(syncPath(path)).not.toBe(second);
    await syncPath(path);
  });

  it('fails for all that wait for it, and for none after', async () => {
    const path = join(directory.path, 'file');
    await expect(Promise.allSettled([syncPath(path), syncPath(path), syncPath(path)])).resolves.toMatchObject(
      Array.from({ length: 3 }, () => ({ status: 'rejected', reason: { code: 'ENOENT' } })),
    );
    await writeFile(path, 'there');
    await syncPath(path);
    await rm(path);
    await expect(syncPath(path)).rejects.toMatchObject({ code: 'ENOENT' });
  });
});

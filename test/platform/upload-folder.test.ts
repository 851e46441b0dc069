import { mkdir, readdir, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { openUploadFolder } from '../../platform/http/body/upload-folder';
import { makeTempDir, type TempDir } from '../../platform/testing/temp-dir';

let directory: TempDir;
describe('upload folder', () => {
  beforeEach(async () => {
    directory = await makeTempDir('uploads');
  });
  afterEach(() => directory.remove());

  /** What a process has left that died in the middle of an upload. */
  async function leftOver(name: string, ageMs: number): Promise<void> {
    const path = join(directory.path, name);
    await mkdir(path);
    await writeFile(join(path, '0'), 'half a file');
    const at = new Date(Date.now() - ageMs);
    await utimes(path, at, at);
  }

  it('is emptied of what is left over, at the start and with later uploads, but not of what may be in use', async () => {
    await leftOver('old', 3_600_000);
    await leftOver('young', 1_000);
    let now = Date.now();
    const uploads = await openUploadFolder(directory.path, () => now);
    expect(await readdir(directory.path)).toEqual(['young']);
    now += 3_600_000;
    await uploads.withDirectory(async (path) => {
      await writeFile(join(path, '0'), 'a file');
      expect(await readdir(directory.path)).toHaveLength(1);
    });
    expect(await readdir(directory.path)).toEqual([]);
  });

  it('keeps nothing of what fails', async () => {
    const uploads = await openUploadFolder(directory.path);
    const failing = uploads.withDirectory(async (path) => {
      await writeFile(join(path, '0'), 'a file');
      throw new Error('no');
    });
    await expect(failing).rejects.toThrow('no');
    expect(await readdir(directory.path)).toEqual([]);
  });
});

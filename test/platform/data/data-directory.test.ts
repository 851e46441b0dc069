import { chmod, lstat, mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createLog } from '../../../platform/log/log';
import { DataDirectoryError, openDataDirectory } from '../../../platform/processes/data-directory';
import { awaitSpace } from '../../../platform/processes/disk/await-space';
import { makeTempDir, type TempDir } from '../../../platform/testing/temp-dir';

let dir: TempDir;
let dataDir: string;
const modeOf = async (path = '') => ((await lstat(join(dataDir, path))).mode & 0o777).toString(8);

beforeEach(async () => {
  dir = await makeTempDir('data-directory');
  dataDir = join(dir.path, 'data');
});
afterEach(() => dir.remove());

describe('the data directory', () => {
  it('is made for its user alone', async () => {
    await openDataDirectory(join(dataDir, 'below'));
    expect([await modeOf(), await modeOf('below')]).toEqual(['700', '700']);
  });

  it('that others can enter is closed with everything in it, but for what agents work on and what links lead to', async () => {
    await mkdir(join(dataDir, 'worktrees', 'task'), { recursive: true });
    await mkdir(join(dataDir, 'tasks'));
    const outside = join(dir.path, 'outside');
    for (const path of [join(dataDir, 'worktrees', 'task', 'run.sh'), join(dataDir, 'tasks', 'a.md'), outside]) {
      await writeFile(path, '');
      await chmod(path, 0o755);
    }
    await symlink(outside, join(dataDir, 'tasks', 'link'));
    for (const path of ['', 'worktrees', 'worktrees/task', 'tasks']) {
      await chmod(join(dataDir, path), 0o777);
    }
    await openDataDirectory(dataDir);
    const modes = await Promise.all(['', 'tasks', 'tasks/a.md', 'worktrees', 'worktrees/task/run.sh'].map(modeOf));
    expect(modes).toEqual(['700', '700', '700', '700', '755']);
    expect((await lstat(outside)).mode & 0o777).toBe(0o755);
  });

  it.each(['/etc/passwd/x', '/dev/null/x', '/proc/x/y', '/proc', '/sys/x'])(
    'is refused with its setting where it cannot be made or written to: %s',
    async (path) => {
      const refused = `BOARD_DATA_DIR: ${path} is not a directory that can be made and written to: `;
      await expect(openDataDirectory(path)).rejects.toThrow(refused);
      await expect(awaitSpace(path, { log: createLog({ name: 'test', level: 'silent' }) })).rejects.toThrow(
        DataDirectoryError,
      );
    },
  );

  it('that is the directory of something else, which others may enter, is refused and left as it is', async () => {
    await mkdir(join(dataDir, 'tasks'), { recursive: true });
    await writeFile(join(dataDir, 'passwd'), '');
    await chmod(dataDir, 0o755);
    await chmod(join(dataDir, 'passwd'), 0o644);
    await expect(openDataDirectory(dataDir)).rejects.toThrow(
      `BOARD_DATA_DIR: ${dataDir} holds files of something else, which would be closed to other users. Name an empty`,
    );
    expect(await Promise.all(['', 'passwd'].map(modeOf))).toEqual(['755', '644']);
  });

  it('may be behind a link', async () => {
    await mkdir(dataDir, { mode: 0o700 });
    await writeFile(join(dataDir, 'host-id'), '', { mode: 0o600 });
    await symlink(dataDir, join(dir.path, 'linked'));
    await openDataDirectory(join(dir.path, 'linked'));
    await chmod(dataDir, 0o755);
    await openDataDirectory(join(dir.path, 'linked'));
    expect(await modeOf()).toBe('700');
  });

  it('that agents of another user may pass through stays as it is', async () => {
    await mkdir(dataDir, { mode: 0o700 });
    await chmod(dataDir, 0o710);
    await openDataDirectory(dataDir);
    expect(await modeOf()).toBe('710');
  });
});

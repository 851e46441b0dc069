import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { eventually } from '../../../../platform/testing/eventually';
import { makeTempDir, type TempDir } from '../../../../platform/testing/temp-dir';
import { removeAbandonedInspections, withInspectionDirectory } from '../../../../providers/git/repository/inspecting';

let directory: TempDir;
beforeEach(async () => {
  directory = await makeTempDir('inspecting');
});
afterEach(() => directory.remove());

const hourMs = 3_600_000;

describe('directories of inspections', () => {
  it('of a process that was killed are removed once they are an hour old, and nothing else is', async () => {
    await mkdir(join(directory.path, 'a-repository'));
    const script = `require('./providers/git/repository/inspecting').withInspectionDirectory(process.argv[1], () => new Promise(() => setInterval(() => 0, 1000)))`;
    const inspecting = spawn(process.execPath, ['-r', './test/support/register-ts.cjs', '-e', script, directory.path], {
      stdio: 'ignore',
    });
    const ended = once(inspecting, 'exit');
    const left = await eventually(async () => {
      const found = (await readdir(directory.path)).filter((name) => name.startsWith('inspection-'));
      expect(found).toHaveLength(1);
      return found;
    });
    inspecting.kill('SIGKILL');
    await ended;

    await withInspectionDirectory(directory.path, async () => {
      expect(await removeAbandonedInspections(directory.path)).toEqual([]);
    });
    const removed = await removeAbandonedInspections(directory.path, () => Date.now() + 2 * hourMs);
    expect(removed).toEqual(left.map((name) => join(directory.path, name)));
    expect(await readdir(directory.path)).toEqual(['a-repository']);
  });

  it('are none where nothing was inspected yet', async () => {
    expect(await removeAbandonedInspections(join(directory.path, 'missing'))).toEqual([]);
  });
});

import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createLog } from '../../../platform/log/log';
import { eventually } from '../../../platform/testing/eventually';
import { createTaskFileWatcher } from '../../../stores/board-files/following/watcher';
import { locations, taskPath } from '../../../stores/board-files/format/layout';

describe('watcher of task files', () => {
  it('reports a file that this process writes once it is written', async () => {
    const dir = await mkdtemp(join(tmpdir(), 'runboard-watcher-'));
    await Promise.all(locations.map((location) => mkdir(join(dir, location))));
    const [own, other] = [taskPath('active', 'own.md'), taskPath('active', 'other.md')];
    const writing = new Set([own]);
    const reported = new Set<string>();
    const watcher = createTaskFileWatcher({
      dir,
      log: createLog({ name: 'test', level: 'silent' }),
      isBeingWritten: (path) => writing.has(path),
      onChanged: async (paths) => paths.forEach((path) => reported.add(path)),
    });
    try {
      watcher.renew();
      // Events of one folder come in the order of the changes.
      await writeFile(join(dir, own), 'half');
      await writeFile(join(dir, other), 'whole');
      await eventually(() => expect([...reported]).toEqual([other]));
      writing.delete(own);
      await eventually(() => expect([...reported]).toEqual([other, own]));
    } finally {
      await watcher.close();
      await rm(dir, { recursive: true });
    }
  });
});

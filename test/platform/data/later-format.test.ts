import { createLog } from '../../../platform/log/log';
import { makeTempDir, type TempDir } from '../../../platform/testing/temp-dir';
import { PartNotReadyError, startAll } from '../../../scripts/start-all';
import { claimFormat, ownFormat } from '../../../stores/port/format';
import { openDatabase } from '../../../stores/port/open';

const own = ownFormat.format;

describe('a data directory that a later version has changed', () => {
  let directory: TempDir;

  beforeEach(async () => {
    directory = await makeTempDir('later-format');
  });
  afterEach(() => directory.remove());

  async function changeBy(readableFrom: number): Promise<void> {
    const database = await openDatabase({ dataDir: directory.path, log: createLog({ name: 'test', level: 'silent' }) });
    await claimFormat(database, { format: own + 1, readableFrom, release: '99.0.0' });
    await database.close();
  }

  const start = () =>
    startAll({
      environment: { PATH: process.env.PATH, HOME: process.env.HOME, BOARD_AUTH_ENABLED: 'false' },
      dataDir: directory.path,
      ports: { api: 0 },
      quiet: true,
    });

  it('is served where that version has left it readable', async () => {
    await changeBy(own);
    const service = await start();
    expect((await fetch(`${service.apiUrl}/health/ready`)).status).toBe(200);
    await service.stop();
  });

  it('is not served otherwise, and no part is started again and again', async () => {
    await changeBy(own + 1);
    const starting = start();
    await expect(starting).rejects.toThrow(PartNotReadyError);
    await expect(starting).rejects.toThrow(/ended instead of becoming ready[^]*changed by Runboard 99\.0\.0/);
  });
});

import { join } from 'node:path';
import { createLog } from '../../../platform/log/log';
import { makeTempDir, type TempDir } from '../../../platform/testing/temp-dir';
import type { Database } from '../../../stores/port/collection';
import { claimFormat, LaterFormatError, ownFormat, type StoreFormat } from '../../../stores/port/format';
import { openDatabase } from '../../../stores/port/open';
import { openSettingsDocument } from '../../../stores/port/settings-document';

const log = createLog({ name: 'test', level: 'silent' });

const later: StoreFormat = { ...ownFormat, format: ownFormat.format + 1, release: '99.0.0' };
const unreadable: StoreFormat = { ...later, readableFrom: later.format };

describe('the format of stores', () => {
  let directory: TempDir;
  let database: Database;

  beforeEach(async () => {
    directory = await makeTempDir('store-format');
    database = await open();
  });

  afterEach(async () => {
    await database.close();
    await directory.remove();
  });

  const open = (): Promise<Database> => openDatabase({ dataDir: join(directory.path, 'data'), log });

  async function recorded(): Promise<StoreFormat | null> {
    const document = await openSettingsDocument<StoreFormat>(database, 'store-format');
    return (await document.read()).value;
  }

  it('is recorded when they are opened', async () => {
    expect(await recorded()).toEqual(ownFormat);
  });

  it('stays that of a later version whose documents can be read', async () => {
    await claimFormat(database, later);
    await (await open()).close();
    expect(await recorded()).toEqual(later);
  });

  it('refuses a version that cannot read them, with what to start instead', async () => {
    await claimFormat(database, unreadable);
    const opening = open();
    await expect(opening).rejects.toThrow(LaterFormatError);
    await expect(opening).rejects.toThrow(
      /changed by Runboard 99\.0\.0 .* Start 99\.0\.0 or a later version, or restore a backup/,
    );
    expect(await recorded()).toEqual(unreadable);
  });

  it('is the latest of versions that start at once', async () => {
    const versions = [3, 7, 5, 4, 6].map((format) => ({ format, readableFrom: 1, release: `${format}.0.0` }));
    await Promise.all(versions.map((version) => claimFormat(database, version)));
    expect(await recorded()).toEqual(versions[1]);
  });
});

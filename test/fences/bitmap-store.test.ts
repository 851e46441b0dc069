import type { FileHandle } from 'node:fs/promises';
import { mkdir, open as openFile, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { makeTempDir, type TempDir } from '../../platform/testing/temp-dir';
import { answerJson } from '../../services/bitmap/answers/json';
import { execute } from '../../services/bitmap/query/execute';
import { Log } from '../../services/bitmap/storage/log';
import { isSnapshotName, snapshotName } from '../../services/bitmap/storage/snapshot';
import { Store } from '../../services/bitmap/storage/store';
import { log as logger } from './admission-fixture';

let dir: TempDir;
let failures: Error[];
const opened: Store[] = [];
let fileMethods: FileHandle;
beforeAll(async () => {
  const file = await openFile(__filename);
  fileMethods = Object.getPrototypeOf(file) as FileHandle;
  await file.close();
});
beforeEach(async () => {
  dir = await makeTempDir('bitmap-fences');
  failures = [];
});
afterEach(async () => {
  for (const store of opened.splice(0)) {
    await store.close().catch(() => undefined);
  }
  await dir.remove();
});

async function open(): Promise<Store> {
  const onFailure = (error: Error) => void failures.push(error);
  const store = await Store.open({ directory: dir.path, logger, onFailure });
  opened.push(store);
  return store;
}
const run = (store: Store, text: string): string =>
  [...answerJson(execute({ catalog: store.catalog, index: store.catalog.indexes.get('i')! }, text))].join('').trimEnd();
const names = async (wanted: (name: string) => boolean) => (await readdir(dir.path)).filter(wanted).sort();
const isSegment = (name: string) => name.startsWith('log-');

/** A store with one index of one field, all of it in snapshots. */
async function filled(): Promise<{ store: Store; field: number }> {
  const store = await open();
  const index = store.catalog.createIndex('i', { keys: false, trackExistence: true });
  const field = store.catalog.createField(index, 'n', {
    type: 'set',
    keys: false,
    cacheType: 'ranked',
    cacheSize: 10,
  });
  run(store, 'Set(1,n=7)');
  await store.commit();
  await store.checkpoint();
  return { store, field: field.number };
}

describe('a snapshot that cannot be written', () => {
  it('keeps the log, and is written the next time', async () => {
    const { store, field } = await filled();
    run(store, 'Set(2,n=7)');
    await store.commit();
    const obstacle = join(dir.path, `${snapshotName(field)}.new`);
    await mkdir(obstacle);
    const before = await names(isSegment);
    await store.checkpoint();
    expect((await names(isSegment)).slice(0, before.length)).toEqual(before);

    await rm(obstacle, { recursive: true });
    await store.checkpoint();
    expect(await names(isSegment)).toHaveLength(1);
    // Without any log the snapshots alone have everything.
    for (const segment of await names(isSegment)) {
      await rm(join(dir.path, segment));
    }
    const again = await open();
    expect(run(again, 'Row(n=7)')).toContain('[1,2]');
  });

  it('does not drop what changed while the first try of it failed', async () => {
    const { store, field } = await filled();
    const obstacle = join(dir.path, `${snapshotName(field)}.new`);
    await mkdir(obstacle);
    run(store, 'Set(2,n=7)');
    await store.commit();
    const failing = store.checkpoint();
    run(store, 'Set(3,n=7)');
    await store.commit();
    await failing;
    await rm(obstacle, { recursive: true });
    await store.checkpoint();
    for (const segment of await names(isSegment)) {
      await rm(join(dir.path, segment));
    }
    expect(run(await open(), 'Row(n=7)')).toContain('[1,2,3]');
  });

  it('is not taken for whole when the disk takes a part of it', async () => {
    const { store } = await filled();
    run(store, 'Set(2,n=7)');
    await store.commit();
    const log = (await names(isSegment)).at(-1)!;
    const partial = jest.spyOn(fileMethods, 'writev').mockImplementation(async function (this: FileHandle, buffers) {
      const whole = Buffer.concat(buffers as Buffer[]);
      const { bytesWritten } = await this.write(whole.subarray(0, whole.length - 1));
      return { bytesWritten, buffers };
    });
    try {
      await store.checkpoint();
    } finally {
      partial.mockRestore();
    }
    expect(await names(isSegment)).toContain(log);
    const again = await open();
    expect(again.findings).toEqual([]);
    expect(run(again, 'Row(n=7)')).toContain('[1,2]');
  });

  it('is none of what the log did not take', async () => {
    const { store, field } = await filled();
    const before = await names(isSnapshotName);
    run(store, 'Set(2,n=7)');
    const { log } = store as unknown as { log: { file: FileHandle } };
    await log.file.close();
    await expect(store.commit()).rejects.toThrow();
    await store.checkpoint();
    expect(failures).toHaveLength(1);
    expect(await names(isSnapshotName)).toEqual(before);
    expect(before).toContain(snapshotName(field));
    // A restart finds what was acknowledged, and nothing that was not.
    expect(run(await open(), 'Row(n=7)')).toContain('[1]');
  });
});

it('snapshots of what is removed stay until the log has the removal', async () => {
  const { store } = await filled();
  run(store, 'Set(2,n=7)');
  await store.commit();
  const before = await names(isSnapshotName);
  const { log, catalog } = store as unknown as { log: { file: FileHandle }; catalog: Store['catalog'] };
  const all = jest.spyOn(catalog, 'all');
  let committed: Promise<unknown> | undefined;
  all.mockImplementation(() => {
    all.mockRestore();
    catalog.remove(catalog.indexes.get('i')!);
    committed = store.commit().catch((error: unknown) => error);
    void log.file.close();
    return catalog.all();
  });
  await store.checkpoint();
  expect(await committed).toBeInstanceOf(Error);
  expect(await names(isSnapshotName)).toEqual(before);
  expect(run(await open(), 'Row(n=7)')).toContain('[1,2]');
});

it('a log that could not write once writes nothing any more, and reports it once', async () => {
  const log = await Log.open(dir.path, 1, (error) => void failures.push(error));
  await log.append(Buffer.from('one'));
  const { file } = log as unknown as { file: FileHandle };
  await file.close();
  const [first, second] = await Promise.allSettled([log.append(Buffer.from('a')), log.append(Buffer.from('b'))]);
  expect([first.status, second.status]).toEqual(['rejected', 'rejected']);
  expect(failures).toHaveLength(1);
  // Even when the disk is back: memory is ahead of it for good.
  const later = await Log.open(dir.path, 2, () => undefined);
  Object.assign(log, { file: (later as unknown as { file: FileHandle }).file });
  await expect(log.append(Buffer.from('c'))).rejects.toBe(failures[0]);
  await expect(log.settled()).rejects.toBe(failures[0]);
  await expect(log.rotate()).rejects.toBe(failures[0]);
  expect(failures).toHaveLength(1);
  await later.close();
});

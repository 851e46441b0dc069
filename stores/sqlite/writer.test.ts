import { join } from 'node:path';
import { eventually } from '../../platform/testing/eventually';
import { makeTempDir, type TempDir } from '../../platform/testing/temp-dir';
import { StoreUnavailableError } from '../port/errors';
import { Connection } from './connection';
import { Writer } from './writer';

/** A disk that writes when a test lets it. */
class Disk {
  isTorn = false;
  repairs = 0;
  private pending: { done: () => void; fail: (error: Error) => void }[] = [];

  get syncs(): number {
    return this.pending.length;
  }
  sync(): Promise<void> {
    return new Promise((done, fail) => this.pending.push({ done, fail }));
  }
  async repair(): Promise<void> {
    this.repairs += 1;
    this.isTorn = false;
  }
  async next(error?: Error): Promise<void> {
    await eventually(() => expect(this.pending).toHaveLength(1));
    const [one] = this.pending.splice(0);
    if (error) {
      this.isTorn = true;
      one?.fail(error);
    } else {
      one?.done();
    }
  }
}

describe('a write', () => {
  let directory: TempDir;
  let connection: Connection;
  let disk: Disk;
  let writer: Writer;
  beforeEach(async () => {
    directory = await makeTempDir('writer-sync');
    connection = new Connection(join(directory.path, 'store.sqlite'));
    connection.execute('CREATE TABLE things (id TEXT PRIMARY KEY)');
    disk = new Disk();
    writer = new Writer(connection, disk, { uniqueKeys: new Map(), patienceMs: 1_000 });
  });
  afterEach(async () => {
    connection.close();
    await directory.remove();
  });

  const insert = (id: string) => writer.submit(() => connection.run('INSERT INTO things (id) VALUES (?)', id));
  const stored = () => connection.rows<[string]>('SELECT id FROM things ORDER BY id').map(([id]) => id);
  const settledIn = (writes: Promise<unknown>[]) => {
    const settled: number[] = [];
    for (const [at, write] of writes.entries()) {
      const settle = () => void settled.push(at);
      write.then(settle, settle);
    }
    return settled;
  };

  it('is acknowledged when the disk has it, and what is committed during a sync by the next one', async () => {
    const first = insert('a');
    const settled = settledIn([first]);
    await eventually(() => expect(disk.syncs).toBe(1));
    const others = [insert('b'), insert('c')];
    const later = settledIn(others);
    await eventually(() => expect(stored()).toEqual(['a', 'b', 'c']));
    expect([settled, later]).toEqual([[], []]);
    await disk.next();
    await first;
    expect(later).toEqual([]);
    await disk.next();
    await Promise.all(others);
  });

  it('is refused when the disk does not take it, and the next one waits until the database is written back', async () => {
    const first = insert('a');
    await disk.next(new StoreUnavailableError('no disk'));
    await expect(first).rejects.toThrow('no disk');
    const second = insert('b');
    await disk.next();
    await second;
    expect(disk.repairs).toBe(1);
  });

  it('that is refused itself is refused after the sync too', async () => {
    const writes = [insert('a'), insert('a')];
    const settled = settledIn(writes);
    await eventually(() => expect(disk.syncs).toBe(1));
    expect(settled).toEqual([]);
    await disk.next();
    expect((await Promise.allSettled(writes)).map(({ status }) => status)).toEqual(['fulfilled', 'rejected']);
  });

  it('that changes nothing does not wait for the disk', async () => {
    const first = insert('a');
    await eventually(() => expect(disk.syncs).toBe(1));
    await writer.submit(() => undefined, { idle: true });
    await disk.next();
    await first;
    await writer.submit(() => undefined, { idle: true });
    expect(disk.syncs).toBe(0);
  });

  it('that is under way is acknowledged before the writer is closed', async () => {
    const write = insert('a');
    const closed = writer.close();
    const settled = settledIn([closed]);
    await eventually(() => expect(disk.syncs).toBe(1));
    expect(settled).toEqual([]);
    await disk.next();
    await Promise.all([write, closed]);
  });
});

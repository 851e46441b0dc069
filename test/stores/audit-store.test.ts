import { join } from 'node:path';
import type { AuditEntry } from '../../contracts/system/audit';
import { digestOf } from '../../platform/json/digest';
import { createLog } from '../../platform/log/log';
import { makeTempDir, type TempDir } from '../../platform/testing/temp-dir';
import type { Database, Stored } from '../../stores/port/collection';
import { openSqlite } from '../../stores/sqlite/database';
import { createAuditStore } from '../../stores/system/audit-store';

let directory: TempDir;
let database: Database;
const log = createLog({ name: 'test', level: 'silent' });
const open = () => openSqlite({ file: join(directory.path, 'store.sqlite'), log });
describe('audit store', () => {
  beforeEach(async () => {
    directory = await makeTempDir('audit');
    database = await open();
  });
  afterEach(async () => {
    await database.close();
    await directory.remove();
  });

  const november = () => new Date('2026-11-22T10:00:00.000Z');
  const query = { limit: 1000 };
  const something = (number: number) => ({ action: 'task.create', actor: 'user:ada', resource: `task_${number}` });

  async function written(count: number) {
    const audit = await createAuditStore(database, november);
    for (let number = 1; number <= count; number += 1) {
      await audit.record(something(number));
    }
    const raw = await database.collection<Stored & { sequence: number; actor: string }>({
      name: 'audit',
      indexes: [{ keys: { sequence: 1 }, unique: true }],
    });
    return { audit, raw };
  }

  it('chains what is written, the newest first', async () => {
    const { audit } = await written(3);
    const [third, second, first] = (await audit.list(query)).items;
    expect([first?.sequence, second?.sequence, third?.sequence]).toEqual([1, 2, 3]);
    expect(first?.previousHash).toBeUndefined();
    expect(second?.previousHash).toBe(first?.hash);
    expect(third?.previousHash).toBe(second?.hash);
    expect(await audit.verify()).toEqual({ valid: true, month: '2026-11', entries: 3, broken: [] });
  });

  it('is one chain for entries that are recorded at once, each name once', async () => {
    const audit = await createAuditStore(database);
    const recorded = await Promise.all(
      Array.from({ length: 250 }, (_, number) => audit.record({ ...something(number), once: `once-${number % 100}` })),
    );
    expect(new Set(recorded.map(({ sequence }) => sequence)).size).toBe(100);
    expect(recorded[150]).toEqual(recorded[50]);
    expect(await audit.verify()).toMatchObject({ valid: true, entries: 100 });
  });

  it('is one chain for writers in several processes', async () => {
    const other = await open();
    const stores = [await createAuditStore(database), await createAuditStore(other)];
    const numbers = Array.from({ length: 40 }, (_, number) => number);
    await Promise.all(numbers.map((number) => stores[number % 2]!.record(something(number))));
    const { items: entries } = await stores[0]!.list(query);
    expect(entries.map(({ sequence }) => sequence)).toEqual(numbers.map((number) => 40 - number));
    expect(entries.map(({ resource }) => resource).sort()).toEqual(numbers.map((number) => `task_${number}`).sort());
    expect(await stores[1]!.verify()).toMatchObject({ valid: true, entries: 40 });
    await other.close();
  });

  it('writes what has a name once, however many writers repeat it', async () => {
    const other = await open();
    const stores = [await createAuditStore(database), await createAuditStore(other)];
    const named = { ...something(1), once: 'run.start/1' };
    const written = await Promise.all(Array.from({ length: 20 }, (_, number) => stores[number % 2]!.record(named)));
    await stores[1]!.record({ ...named, actor: 'user:late' });
    await stores[0]!.record({ ...something(2), once: 'run.start/2' });
    const { items: entries } = await stores[0]!.list(query);
    expect(entries.map(({ sequence, resource }) => [sequence, resource])).toEqual([
      [2, 'task_2'],
      [1, 'task_1'],
    ]);
    expect(written.map(({ hash }) => hash)).toEqual(written.map(() => entries[1]?.hash));
    expect(entries[1]).toMatchObject({ actor: 'user:ada' });
    expect(await stores[0]!.verify()).toMatchObject({ valid: true, entries: 2 });
    await other.close();
  });

  it('continues where it ended after a restart, also in another month', async () => {
    await written(2);
    const later = await createAuditStore(database, () => new Date('2026-12-01T00:00:00.000Z'));
    await later.record(something(3));
    expect(await later.verify()).toEqual({ valid: true, month: '2026-12', entries: 1, broken: [] });
    expect(await later.verify('2026-11')).toMatchObject({ valid: true, entries: 2 });
    expect(await later.verify('2026-10')).toMatchObject({ valid: true, entries: 0 });
  });

  it.each([
    ['changed', { sequence: 2, reason: 'changed' }],
    ['taken out', { sequence: 2, reason: 'missing' }],
    ['cut off at the end', { sequence: 3, reason: 'cut-off' }],
  ])('reports an entry that was %s', async (how, expected) => {
    const { audit, raw } = await written(3);
    if (how === 'changed') {
      await raw.findOneAndUpdate({ sequence: 2 }, { $set: { actor: 'user:eve' } });
    } else {
      await raw.deleteMany({ sequence: expected.sequence });
    }
    const { valid, firstBroken, broken } = await audit.verify();
    expect({ valid, firstBroken }).toEqual({ valid: false, firstBroken: expected.sequence });
    expect(broken).toContainEqual(expect.objectContaining(expected));
  });

  it('reports an entry that was rewritten with a matching hash', async () => {
    const { audit } = await written(1);
    const forger = await createAuditStore(database, november);
    await forger.record(something(2));
    const raw = await database.collection<Stored & AuditEntry & { month: string }>({ name: 'audit', indexes: [] });
    const [, first] = (await audit.list(query)).items;
    await raw.deleteMany({ _id: '1' });
    const { hash: _hash, ...body } = { ...first!, actor: 'user:eve' };
    await raw.insert({ _id: '1', month: '2026-11', ...body, hash: digestOf(body) });
    expect(await audit.verify()).toMatchObject({ valid: false, firstBroken: 2 });
  });

  it('reports the last entry that was rewritten with a matching hash', async () => {
    const { audit } = await written(3);
    const raw = await database.collection<Stored & AuditEntry & { month: string }>({ name: 'audit', indexes: [] });
    const [last] = (await audit.list(query)).items;
    await raw.deleteMany({ _id: '3' });
    const { hash: _hash, ...body } = { ...last!, actor: 'user:eve' };
    await raw.insert({ _id: '3', month: '2026-11', ...body, hash: digestOf(body) });
    expect(await audit.verify()).toMatchObject({
      valid: false,
      firstBroken: 3,
      broken: [{ sequence: 3, reason: 'changed', message: 'It is not the entry the log ended with.' }],
    });
  });

  it('takes an end that a crash left behind for what it is', async () => {
    const { audit } = await written(2);
    const heads = await database.collection<Stored & { sequence: number; hash: string }>({ name: 'audit-heads' });
    const [, first] = (await audit.list(query)).items;
    await heads.findOneAndUpdate({ _id: 'audit' }, { $set: { sequence: 1, hash: first!.hash } });
    expect(await audit.verify()).toMatchObject({ valid: true });
  });

  it('finds by action, actor, resource and time, in pages', async () => {
    const { audit } = await written(5);
    await audit.record({ action: 'task.delete', actor: 'user:bob', resource: 'task_2' });
    const found = async (filter: object) =>
      (await audit.list({ ...query, ...filter })).items.map(({ sequence }) => sequence);
    expect(await found({ action: 'task.delete' })).toEqual([6]);
    expect(await found({ actor: 'user:ada', limit: 2 })).toEqual([5, 4]);
    expect(await found({ actor: 'user:ada', before: 4, limit: 2 })).toEqual([3, 2]);
    expect(await found({ resource: 'task_2' })).toEqual([6, 2]);
    expect(await found({ since: '2026-11-22T10:00:01.000Z' })).toEqual([]);
  });

  it('keeps no secrets', async () => {
    const { audit } = await written(0);
    await audit.record({ action: 'settings.update', actor: 'user:ada', details: { webhook: { password: 'hunter2' } } });
    expect(JSON.stringify(await audit.list(query))).not.toContain('hunter2');
    expect(await audit.verify()).toMatchObject({ valid: true });
  });
});

import { createAuthFailures } from '../../platform/http/auth/auth-failures';
import { callerAddressBehind } from '../../platform/http/limits/caller-address';
import { listen, type RunningServer } from '../../platform/http/server/server';
import { createLog } from '../../platform/log/log';
import { makeTempDir, type TempDir } from '../../platform/testing/temp-dir';
import { createPlantApp } from '../../services/plants/app';
import { createPlantStore, type PlantStore } from '../../services/plants/store';
import type { Database } from '../../stores/port/collection';
import { openDatabase } from '../../stores/port/open';
import { createIdempotencyKeyStore } from '../../stores/system/idempotency-key-store';
import { callPlants } from './plants-client';

const log = createLog({ name: 'test', level: 'silent' });
let dir: TempDir;
let database: Database;
let store: PlantStore;
let server: RunningServer;

let additions = 0;
const add = (id: bigint, name = `Fern ${id}`) =>
  store.add('ann', {
    id,
    plant: { name },
    creation: { by: `${id} ${(additions += 1)}`, at: '2026-01-01T00:00:00.000Z' },
  });

beforeAll(async () => {
  dir = await makeTempDir('plants');
  database = await openDatabase({ dataDir: dir.path, log });
  store = await createPlantStore(database);
  const app = createPlantApp({
    store,
    users: [{ user: 'ann', token: 'the-token-of-ann-0000000' }],
    create: () => Promise.resolve(true),
    idempotencyKeys: await createIdempotencyKeyStore(database),
    log,
    authFailures: createAuthFailures({ limit: 0, addressOf: callerAddressBehind([]), report: () => undefined }),
  });
  server = await listen(app.callback(), { host: '127.0.0.1', port: 0 });
  for (let id = 0n; id < 250n; id += 1n) {
    await add(id);
  }
  // One of an earlier version.
  await add(250n, 'x'.repeat(100_000));
});
afterAll(async () => {
  await server.close();
  await database.close();
  await dir.remove();
});

const list = async (query = '') => {
  const { headers, body } = await callPlants(server.url, ['GET', `/plants${query}`]);
  return { isStreamed: headers.get('content-length') === null, next: headers.get('x-next-cursor'), plants: body };
};

describe('a body of a plant', () => {
  it.each(['gzip', 'deflate', 'br', 'zip'])('that is not %s as stated is a 400', async (encoding) => {
    const request = { headers: { 'content-encoding': encoding } };
    expect(await callPlants(server.url, ['POST', '/plants', '{"id":1,"name":"Fern"}'], request)).toMatchObject({
      status: 400,
      body: { message: 'The body cannot be read.' },
    });
  });
});

describe('a long list of plants', () => {
  it('is read in batches, each plant once, while plants come and go', async () => {
    const { batches, next } = await store.list('ann', { limit: 240 });
    expect(next).toBe(239n);
    const lengths: number[] = [];
    for await (const batch of batches) {
      lengths.push(batch.length);
      await store.remove('ann', 150n, new Date());
      await add(-BigInt(lengths.length));
    }
    expect(lengths).toEqual([100, 100, 39]);
    for (const id of [-1n, -2n, -3n]) {
      await store.remove('ann', id, new Date());
    }
    await add(150n);
  });

  it('is sent in pieces, whole or page by page', async () => {
    const all = await list();
    expect(all).toMatchObject({ isStreamed: true, next: null });
    expect(all.plants).toHaveLength(251);
    expect(all.plants.at(-1).name).toHaveLength(100_000);
    const page = await list('?limit=120');
    expect(page.plants.map(({ id }: { id: number }) => id)).toEqual(Array.from({ length: 120 }, (_, id) => id));
    const rest = await list(`?limit=131&cursor=${page.next}`);
    expect([...page.plants, ...rest.plants]).toEqual(all.plants);
    expect(rest.next).toBeNull();
    expect(await list(`?cursor=${2n ** 62n}`)).toMatchObject({ plants: [], next: null });
  });
});

describe('a creation that is tried again', () => {
  const creation = { by: 'plant/repeated', at: '2026-01-01T00:00:00.000Z' };
  const repeated = { id: 900n, plant: { name: 'Moss' }, creation };

  it('stores its plant once, and not again after it was deleted', async () => {
    expect([await store.add('ann', repeated), await store.add('ann', repeated)]).toEqual([true, true]);
    expect((await callPlants(server.url, ['DELETE', '/plants/900'])).status).toBe(204);
    expect(await store.add('ann', repeated)).toBe(true);
    expect((await list('?cursor=899')).plants).toEqual([]);
    expect((await callPlants(server.url, ['DELETE', '/plants/900'])).status).toBe(400);
  });

  it('leaves the plant of another creation alone', async () => {
    const other = { ...repeated, plant: { name: 'Fern' }, creation: { ...creation, by: 'plant/other' } };
    expect(await store.add('ann', other)).toBe(true);
    expect(await store.add('ann', repeated)).toBe(true);
    expect((await list('?cursor=899')).plants).toEqual([{ id: 900, name: 'Fern' }]);
  });
});

import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { createLog } from '../../../platform/log/log';
import { eventually } from '../../../platform/testing/eventually';
import { makeTempDir, type TempDir } from '../../../platform/testing/temp-dir';
import type { Stored } from '../../../stores/port/collection';
import { databaseName } from '../../../stores/port/database-name';
import { openSqlite } from '../../../stores/sqlite/database';
import { createWorkProductStore } from '../../../stores/tasks/work-product-store';
import type { Answer } from '../../support/caller';
import type { KillPoints } from '../../support/processes/kill-points';
import { persistently } from '../../support/processes/persistently';
import { workProductKillPoints } from '../../support/processes/work-product-kill-points';
import { type Service, soonAgain, startService } from '../../support/stack/service';

let files: TempDir;
let points: KillPoints;
let service: Service;
let taskId: string;

/** A change under a key, repeated until the killed API serves it again. */
async function interrupted(step: string, method: string, path: string, body?: object): Promise<Answer> {
  const key = { 'x-idempotency-key': randomUUID() };
  await points.arm(`after ${step}`);
  await expect(service.call.send(method, path, body, key)).rejects.toThrow();
  expect(points.isReached()).toBe(true);
  return eventually(async () => {
    const answer = await service.call.send(method, path, body, key);
    expect(answer.status).not.toBe(503);
    expect(answer.body?.code).not.toBe('IDEMPOTENCY_KEY_IN_USE');
    return answer;
  });
}

const read = (path: string) => persistently(() => service.call.get(path));

/** How much content is stored once everything that was interrupted is settled, as after ten minutes. */
async function contents(productId: string): Promise<number> {
  const database = await openSqlite({
    file: join(service.dataDir, databaseName),
    log: createLog({ name: 'test', level: 'silent' }),
  });
  try {
    const store = await createWorkProductStore(database, { restMs: 0 }, () => new Date(Date.now() + 1_000));
    await store.settle();
    const collection = await database.collection<Stored & { productId: string }>({
      name: 'work-product-contents',
      indexes: [{ keys: { productId: 1 } }],
    });
    return await collection.count({ productId });
  } finally {
    await database.close();
  }
}

describe('kill -9 while a work product is changed', () => {
  beforeAll(async () => {
    files = await makeTempDir('work-products');
    points = await workProductKillPoints(join(files.path, 'points'));
    service = await startService(points.environment, { restart: soonAgain });
    taskId = (await service.call.createTask({ title: 'Produces' })).id;
  });
  afterAll(async () => {
    await service.close();
    await files.remove();
  });

  const create = async (): Promise<string> =>
    (await persistently(() => service.call.ok('POST', '/api/work-products', { taskId, title: 'Plan', content: 'one' })))
      .id;

  it.each(['content insert', 'record insert', 'content updateMany'])(
    'creates one when its creation is repeated: %s',
    async (step) => {
      const attempt = await persistently(() => service.call.createTask({ title: step }));
      const path = `/api/tasks/${attempt.id}/work-products`;
      const made = await interrupted(step, 'POST', path, { title: 'Once', content: step });
      expect(made).toMatchObject({ status: 201, body: { content: step, version: 1, revision: 1 } });
      const { id } = made.body;
      expect((await read(path)).body).toMatchObject([{ id }]);
      expect((await read(`/api/work-products/${id}`)).body).toMatchObject({ content: step });
      expect(await contents(id)).toBe(1);
    },
  );

  it.each(['content insert', 'record findOneAndUpdate', 'content updateMany'])(
    'makes one version when its change is repeated: %s',
    async (step) => {
      const id = await create();
      const path = `/api/work-products/${id}`;
      const changed = await interrupted(step, 'PATCH', path, { content: step });
      expect(changed).toMatchObject({ status: 200, body: { content: step, version: 2, revision: 2 } });
      expect((await read(`${path}/versions`)).body).toMatchObject([{ version: 2 }, { version: 1 }]);
      expect((await read(`${path}/versions/1`)).body).toMatchObject({ content: 'one' });
      expect(await contents(id)).toBe(2);
      const restored = await interrupted(step, 'POST', `${path}/restore`, { version: 1 });
      expect(restored).toMatchObject({ status: 200, body: { content: 'one', version: 3, revision: 3 } });
      expect(await contents(id)).toBe(3);
    },
  );

  it('is as it was when its change is not repeated, and nothing of that change stays', async () => {
    const id = await create();
    const path = `/api/work-products/${id}`;
    await points.arm('after content insert');
    await expect(service.call.send('PATCH', path, { content: 'lost' })).rejects.toThrow();
    expect((await read(path)).body).toMatchObject({ content: 'one', version: 1, revision: 1 });
    expect(await contents(id)).toBe(1);
  });

  it.each([
    ['content updateMany', 200, 1],
    ['record deleteMany', 404, 0],
    ['content deleteMany', 404, 0],
  ])('is whole or gone when its deletion is interrupted: %s', async (step, status, stored) => {
    const id = await create();
    const path = `/api/work-products/${id}`;
    await points.arm(`after ${step}`);
    await expect(service.call.send('DELETE', path)).rejects.toThrow();
    expect(points.isReached()).toBe(true);
    expect((await read(path)).status).toBe(status);
    expect(await contents(id)).toBe(stored);
    expect((await read(path)).status).toBe(status);
  });
});

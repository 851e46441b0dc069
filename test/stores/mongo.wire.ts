import { MongoClient } from 'mongodb';
import { createLog } from '../../platform/log/log';
import { eventually } from '../../platform/testing/eventually';
import { openMongo } from '../../stores/mongo/database';
import type { LogEntry } from '../../stores/port/collection';
import { StoreUnavailableError } from '../../stores/port/errors';
import { startCuttableProxy } from '../support/processes/cuttable-proxy';
import { storeContract } from './contract';

const server = process.env.MONGODB_URL;
if (!server) {
  throw new Error('Run these with `npm run test:mongo`, which sets MONGODB_URL.');
}

const url = new URL(server);
url.pathname = `/runboard-test-${process.pid}-${Date.now()}`;
const log = createLog({ name: 'test', level: 'fatal' });

afterAll(async () => {
  const client = new MongoClient(url.href);
  await client.db(url.pathname.slice(1)).dropDatabase();
  await client.close();
});

describe('mongo', () => {
  storeContract({
    answersOwnResult: !process.env.MONGODB_IN_MEMORY,
    open: (options) => openMongo({ url: url.href, log, ...options }),
  });

  it('reports that the store is unavailable when no server answers', async () => {
    const opening = openMongo({ url: 'mongodb://127.0.0.1:9/x', log, selectionTimeoutMs: 200 });
    await expect(opening).rejects.toThrow(StoreUnavailableError);
  });

  it('reports it while the connection is lost, and continues by itself once it is back', async () => {
    const { hostname, port } = url;
    const proxy = await startCuttableProxy({ host: hostname, port: Number(port || 27017) });
    const through = new URL(url);
    through.host = `127.0.0.1:${proxy.port}`;
    through.searchParams.set('directConnection', 'true');
    const cuttable = await openMongo({ url: through.href, log, selectionTimeoutMs: 300 });
    const direct = await openMongo({ url: url.href, log });
    const ended = new AbortController();
    try {
      const things = await cuttable.collection({ name: 'outage' });
      const lines = await cuttable.log<LogEntry>({ name: 'outage-lines' });
      const received: number[] = [];
      const watching = (async () => {
        for await (const entries of lines.watch('s', { after: 0, signal: ended.signal })) {
          received.push(...entries.map(({ sequence }) => sequence));
        }
      })();
      await lines.append('s', [{}]);
      await eventually(() => expect(received).toEqual([1]));

      await proxy.cut();
      await expect(things.insert({ _id: 'a' })).rejects.toThrow(StoreUnavailableError);
      await expect(things.get('a')).rejects.toThrow(StoreUnavailableError);
      await expect(lines.append('s', [{}])).rejects.toThrow(StoreUnavailableError);
      await expect(cuttable.ping()).rejects.toThrow(StoreUnavailableError);
      await (await direct.log<LogEntry>({ name: 'outage-lines' })).append('s', [{}]);

      await proxy.mend();
      await eventually(() => expect(received).toEqual([1, 2]));
      await things.insert({ _id: 'a' });
      expect(await lines.append('s', [{}])).toEqual([3]);
      await eventually(() => expect(received).toEqual([1, 2, 3]));
      ended.abort();
      await watching;
    } finally {
      ended.abort();
      await Promise.all([cuttable.close(), direct.close()]);
      await proxy.cut();
    }
  });
});

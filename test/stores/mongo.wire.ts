import { MongoClient } from 'mongodb';
import { createLog } from '../../platform/log/log';
import { openMongo } from '../../stores/mongo/database';
import { StoreUnavailableError } from '../../stores/errors';
import { storeContract } from './contract';

const server = process.env.MONGODB_URL;
if (!server) throw new Error('Run these with `npm run test:mongo`, which sets MONGODB_URL.');

const url = new URL(server);
url.pathname = `/runboard-test-${process.pid}-${Date.now()}`;
const log = createLog({ name: 'test', level: 'fatal' });

afterAll(async () => {
  const client = new MongoClient(url.href);
  await client.db(url.pathname.slice(1)).dropDatabase();
  await client.close();
});

describe('mongo', () => {
  storeContract({ open: (options) => openMongo({ url: url.href, log, ...options }) });

  it('says that the store is unavailable when no server answers', async () => {
    const opening = openMongo({ url: 'mongodb://127.0.0.1:9/x', log, selectionTimeoutMs: 200 });
    await expect(opening).rejects.toThrow(StoreUnavailableError);
  });
});

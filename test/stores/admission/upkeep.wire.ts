import { MongoClient } from 'mongodb';
import { createLog } from '../../../platform/log/log';
import { openMongo } from '../../../stores/mongo/database';
import { upkeepCases } from './upkeep';

const server = process.env.MONGODB_URL;
if (!server) {
  throw new Error('Run these with `npm run test:mongo`, which sets MONGODB_URL.');
}
let url = new URL(server);
let databases = 0;

afterEach(async () => {
  const client = new MongoClient(url.href);
  await client.db(url.pathname.slice(1)).dropDatabase();
  await client.close();
});

describe('mongo', () => {
  upkeepCases(() => {
    databases += 1;
    url = new URL(server);
    url.pathname = `/runboard-upkeep-${process.pid}-${Date.now()}-${databases}`;
    return openMongo({ url: url.href, log: createLog({ name: 'test', level: 'fatal' }) });
  });
});

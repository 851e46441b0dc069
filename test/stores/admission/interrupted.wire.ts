import { MongoClient } from 'mongodb';
import { createLog } from '../../../platform/log/log';
import { openMongo } from '../../../stores/mongo/database';
import { interruptedCases } from './interrupted';

const server = process.env.MONGODB_URL;
if (!server) {
  throw new Error('Run these with `npm run test:mongo`, which sets MONGODB_URL.');
}
const names: string[] = [];

afterAll(async () => {
  const client = new MongoClient(server);
  for (const name of names) {
    await client.db(name).dropDatabase();
  }
  await client.close();
});

describe('mongo', () => {
  interruptedCases(
    () => {
      const name = `runboard-interrupted-${process.pid}-${Date.now()}-${names.length}`;
      names.push(name);
      const url = new URL(server);
      url.pathname = `/${name}`;
      return openMongo({ url: url.href, log: createLog({ name: 'test', level: 'fatal' }) });
    },
    { numRuns: 8, readsAtOnce: false },
  );
});

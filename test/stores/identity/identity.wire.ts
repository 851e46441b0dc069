import { MongoClient } from 'mongodb';
import { createLog } from '../../../platform/log/log';
import { openMongo } from '../../../stores/mongo/database';
import { identityContract } from '../contract/identity';
import { oidcContract, sessionsContract } from '../contract/sessions';

const server = process.env.MONGODB_URL;
if (!server) {
  throw new Error('Run these with `npm run test:mongo`, which sets MONGODB_URL.');
}
const url = new URL(server);
url.pathname = `/runboard-identity-${process.pid}-${Date.now()}`;

afterAll(async () => {
  const client = new MongoClient(url.href);
  await client.db(url.pathname.slice(1)).dropDatabase();
  await client.close();
});

describe('mongo', () => {
  const harness = {
    answersOwnResult: !process.env.MONGODB_IN_MEMORY,
    open: () => openMongo({ url: url.href, log: createLog({ name: 'test', level: 'fatal' }) }),
  };
  identityContract(harness);
  sessionsContract(harness);
  oidcContract(harness);
});

/** Runs a command with `MONGODB_URL` set: `node scripts/with-mongo.mjs node dist/bench/stores.js`. */
import { spawn } from 'node:child_process';
import { startMongo } from './mongo-server.mjs';

const [command, ...args] = process.argv.slice(2);

try {
  if (!command) {
    throw new Error('Say which command to run with a MongoDB.');
  }
  const mongo = await startMongo();
  // Tests know when the server is the stand-in, whose responses are not as exact as MongoDB's.
  const env = { ...process.env, MONGODB_URL: mongo.url, ...(mongo.inMemory && { MONGODB_IN_MEMORY: '1' }) };
  const child = spawn(command, args, { stdio: 'inherit', env });
  process.exitCode = await new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (code) => resolve(code ?? 1));
  });
  await mongo.stop();
} catch (error) {
  console.error(error.message);
  process.exitCode = 1;
}

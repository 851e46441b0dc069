/** Runs the MongoDB side of the store contract over the wire: `npm run test:mongo`. */
import { spawnSync } from 'node:child_process';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';

const require = createRequire(import.meta.url);
// No Temporal server is needed here, and these files are not for `npm test`, which does without MongoDB.
const { globalSetup: _setup, globalTeardown: _teardown, ...common } = require('../jest.config.js');
const root = fileURLToPath(new URL('..', import.meta.url));
const config = JSON.stringify({ ...common, rootDir: root, testMatch: ['**/*.wire.ts'] });

const jest = [require.resolve('jest/bin/jest'), '--config', config, ...process.argv.slice(2)];
const command = [fileURLToPath(new URL('with-mongo.mjs', import.meta.url)), process.execPath, ...jest];
process.exitCode = spawnSync(process.execPath, command, { cwd: root, stdio: 'inherit' }).status ?? 1;

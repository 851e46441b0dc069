import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { resolve } from 'node:path';
import { makeTempDir } from '../../platform/testing/temp-dir';
import { testSettings } from '../support/settings';

describe('plant store port', () => {
  test('a plant store whose port is taken ends as one that only another setting helps', async () => {
    const dir = await makeTempDir('plants');
    const taken = createServer().listen(0, '127.0.0.1');
    await once(taken, 'listening');
    const plants = spawn(process.execPath, [resolve(__dirname, '../../dist/services/plants/main.js')], {
      env: {
        ...testSettings,
        PATH: process.env.PATH,
        BOARD_DATA_DIR: dir.path,
        TEMPORAL_ADDRESS: process.env.TEST_TEMPORAL_ADDRESS,
        PLANTS_PORT: String((taken.address() as AddressInfo).port),
        LOG_LEVEL: 'silent',
      },
      stdio: 'ignore',
    });
    try {
      expect(await once(plants, 'exit')).toEqual([2, null]);
    } finally {
      plants.kill('SIGKILL');
      taken.close();
      await dir.remove();
    }
  });
});

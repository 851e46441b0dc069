import { spawnSync } from 'node:child_process';
import { join } from 'node:path';

const entry = (folder: string): string => join(__dirname, '..', '..', 'dist', folder, 'main.js');

describe('environment of parts', () => {
  test.each([
    ['api', { BOARD_ADMIN_KEY: 'short-key' }, /BOARD_ADMIN_KEY: .*at least 24 characters/],
    [
      'services/plants',
      { BOARD_AUTH_ENABLED: 'false', PLANTS_TOKENS: `ann:${'key-'.repeat(6)},ben:${'key-'.repeat(6)}` },
      /PLANTS_TOKENS: entry 2 has the same key as PLANTS_TOKENS entry 1/,
    ],
  ])('the process of %s ends with 2 and names what is wrong with its keys', (folder, settings, problem) => {
    const { status, stderr } = spawnSync(process.execPath, [entry(folder)], {
      env: { PATH: process.env.PATH, ...settings },
      encoding: 'utf8',
    });
    expect(status).toBe(2);
    expect(stderr).toMatch(problem);
    expect(stderr).not.toMatch(/short-key|key-key/);
  });
});

import { chmod, mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { checkedUrl, readSettings, settingsFile, storeSettings } from './settings';

describe('settings of the command', () => {
  let environment: Record<string, string>;
  beforeEach(async () => {
    environment = { XDG_CONFIG_HOME: await mkdtemp(join(tmpdir(), 'cli-')) };
  });
  afterEach(() => rm(environment.XDG_CONFIG_HOME!, { recursive: true }));

  it('are for the board of this machine by default, with the key that starts it', async () => {
    expect(await readSettings(environment, undefined)).toEqual({ url: 'http://127.0.0.1:3001' });
    const started = { ...environment, BOARD_ADMIN_KEY: 'k' };
    expect(await readSettings(started, undefined)).toEqual({ url: 'http://127.0.0.1:3001', key: 'k' });
    expect(await readSettings(started, 'https://board.example')).toEqual({ url: 'https://board.example' });
  });

  it('have the key that starts the board of this machine for its names and its port alone', async () => {
    const keyFor = async (url: string, settings: Record<string, string> = {}) =>
      (await readSettings({ ...environment, BOARD_ADMIN_KEY: 'k', ...settings }, url)).key;
    for (const url of ['http://127.0.0.1:3001', 'http://localhost:3001/', 'http://[::1]:3001']) {
      expect([url, await keyFor(url)]).toEqual([url, 'k']);
      expect([url, await keyFor(url, { BOARD_PORT: '' })]).toEqual([url, 'k']);
      expect([url, await keyFor(url, { BOARD_PORT: '4000' })]).toEqual([url, undefined]);
      expect([url, await keyFor(url, { RUNBOARD_KEY: 'mine' })]).toEqual([url, 'mine']);
    }
    expect(await keyFor('http://localhost:4000', { BOARD_PORT: '4000' })).toBe('k');
    expect(await keyFor('http://localhost', { BOARD_PORT: '80' })).toBe('k');
    for (const url of ['http://localhost:3002', 'http://localhost', 'https://localhost:3001', 'http://10.0.0.1:3001']) {
      expect([url, await keyFor(url)]).toEqual([url, undefined]);
    }
    expect(await keyFor('http://localhost.evil.example:3001')).toBeUndefined();
    expect(await keyFor('http://localhost:3001/other')).toBeUndefined();
  });

  it('are stored for the user alone, and their key goes to no other board', async () => {
    const file = await storeSettings(environment, { url: 'https://board.example', key: 'secret' });
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    expect(await readSettings(environment, undefined)).toEqual({ url: 'https://board.example', key: 'secret' });
    expect(await readSettings(environment, 'https://board.example/')).toMatchObject({ key: 'secret' });
    expect(await readSettings(environment, 'https://other.example')).toEqual({ url: 'https://other.example' });
    const chosen = { ...environment, RUNBOARD_KEY: 'mine' };
    expect(await readSettings(chosen, 'https://other.example')).toMatchObject({ key: 'mine' });
  });

  it('are refused when they are damaged, or name no address', async () => {
    await storeSettings(environment, { url: 'https://board.example' });
    await writeFile(settingsFile(environment), '{');
    await chmod(settingsFile(environment), 0o600);
    await expect(readSettings(environment, undefined)).rejects.toThrow('is no JSON');
    for (const url of [
      'board',
      'file:///etc/passwd',
      'https://me:secret@board.example',
      'https://board.example/?a=b',
    ]) {
      expect(() => checkedUrl(url)).toThrow('is no address of a board');
    }
  });
});

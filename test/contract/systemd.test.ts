import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { readEnvironment } from '../../platform/config/env';
import { partSettings } from '../../platform/config/part-settings';
import { settingOfFile } from '../../platform/config/secret-files';
import { makeTempDir } from '../../platform/testing/temp-dir';

const root = join(__dirname, '..', '..');
const folder = join(root, 'deploy', 'systemd');

/** The directives of a unit, each with all its values. */
function directivesOf(file: string): Map<string, string[]> {
  const directives = new Map<string, string[]>();
  for (const line of readFileSync(join(folder, file), 'utf8').split('\n')) {
    const [, name = '', value = ''] = /^([A-Za-z]+)=(.*)$/.exec(line) ?? [];
    if (name) {
      directives.set(name, [...(directives.get(name) ?? []), value]);
    }
  }
  return directives;
}

test('there is a unit for each part that runs on its own', () => {
  expect(readdirSync(folder).sort()).toEqual(['runboard-api.service', 'runboard-worker.service']);
});

describe.each(['api', 'worker'] as const)('the unit of the %s', (part) => {
  const file = `runboard-${part}.service`;
  const unit = directivesOf(file);
  const only = (name: string) => unit.get(name)?.join(' | ');

  test('comes back whenever it ends, but for a wrong configuration', () => {
    expect(only('Restart')).toBe('always');
    expect(Number(only('RestartSec'))).toBeLessThanOrEqual(5);
    expect(only('StartLimitIntervalSec')).toBe('0');
    expect(only('RestartPreventExitStatus')).toBe('2');
  });

  test('starts an entry point that exists, as the script of the package does', () => {
    const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
      scripts: Record<string, string>;
    };
    const [, command] = only('ExecStart')!.split('/usr/bin/');
    expect(scripts[`start:${part}`]).toContain(command);
    expect(existsSync(join(root, part, 'main.ts'))).toBe(true);
  });

  test('names a document that exists', () => {
    const [, path = ''] = only('Documentation')!.split('/opt/runboard/');
    expect(path).not.toBe('');
    expect(existsSync(join(root, path))).toBe(true);
  });

  test('gives it settings that it reads, and its secrets as credentials', async () => {
    const dir = await makeTempDir('unit');
    const credential = join(dir.path, 'credential');
    await writeFile(credential, `agents:${'a'.repeat(24)}:agent\n`, { mode: 0o600 });
    const given = Object.fromEntries(unit.get('Environment')!.map((entry) => entry.split('=') as [string, string]));
    const loaded = unit.get('LoadCredential')!.map((entry) => entry.split(':')[0]);
    const files = Object.entries(given).filter(([name]) => settingOfFile(name));
    expect(files.map(([, path]) => path)).toEqual(loaded.map((name) => `%d/${name}`));
    const names = Object.keys(given).map((name) => settingOfFile(name) ?? name);
    expect(partSettings[part]).toEqual(expect.arrayContaining(names));
    const filled = { ...given, ...Object.fromEntries(files.map(([name]) => [name, credential])) };
    expect(readEnvironment(filled, partSettings[part])).toMatchObject({ BOARD_DATA_DIR: '/var/lib/runboard' });
    await dir.remove();
  });

  test('has no rights that it does not need', () => {
    const expected = { NoNewPrivileges: 'yes', CapabilityBoundingSet: '', ProtectSystem: 'strict', PrivateTmp: 'yes' };
    for (const [name, value] of Object.entries(expected)) {
      expect([name, only(name)]).toEqual([name, value]);
    }
    expect([only('User'), only('StateDirectoryMode')]).toEqual(['runboard', '0700']);
  });

  test('is one that systemd understands', () => {
    const { stderr, error } = spawnSync('systemd-analyze', ['verify', '--man=no', join(folder, file)], {
      encoding: 'utf8',
    });
    // Without systemd nothing can be checked; where Node is elsewhere, that is the only problem allowed.
    if (error) {
      return;
    }
    const complaints = stderr
      .split('\n')
      .filter((line) => line.includes(file) && !line.includes('/usr/bin/node is not executable'));
    expect(complaints).toEqual([]);
  });
});

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { agentPresets } from '../../domain/agents/presets';

const read = (name: string) => JSON.parse(readFileSync(join(__dirname, 'packages', name), 'utf8'));
const { dependencies } = read('package.json') as { dependencies: Record<string, string> };

/** The package of a preset's program where an install script would put that in place. */
const programs: Record<string, string> = { 'opencode-ai': 'opencode-linux-x64' };

describe('the packages that the tests of agents install', () => {
  it('are those of the presets, in the version for the oldest Node', () => {
    const tested = agentPresets.flatMap(({ packages }) => packages.slice(-1));
    expect(Object.fromEntries(tested.map(({ name, version }) => [programs[name] ?? name, version]))).toEqual(
      dependencies,
    );
  });

  it('are locked by their integrity, without an address', () => {
    const { packages } = read('package-lock.json') as { packages: Record<string, Record<string, unknown>> };
    const { '': root, ...installed } = packages;
    expect(root?.dependencies).toEqual(dependencies);
    const entries = Object.values(installed);
    expect(entries.filter(({ integrity }) => !/^sha512-/.test(String(integrity)))).toEqual([]);
    expect(entries.filter((entry) => 'resolved' in entry)).toEqual([]);
  });
});

import { execFileSync } from 'node:child_process';
import { join } from 'node:path';

interface TierConfig {
  testRegex?: string[];
  testPathIgnorePatterns: string[];
}

const root = join(__dirname, '..', '..');
const tiers = ['change', 'e2e', 'crash', 'page'] as const;

const configOf = (tier: (typeof tiers)[number]): TierConfig =>
  jest.requireActual<TierConfig>(join(__dirname, `${tier}.config.cjs`));

function runs({ testRegex = [''], testPathIgnorePatterns }: TierConfig, path: string): boolean {
  const matches = (patterns: string[]): boolean =>
    patterns.some((pattern) => new RegExp(pattern.replace('<rootDir>', root)).test(join(root, path)));
  return matches(testRegex) && !matches(testPathIgnorePatterns);
}

const files = execFileSync('git', ['ls-files', '*.test.ts'], { cwd: root, encoding: 'utf8' }).split('\n').slice(0, -1);
const configs = tiers.map(configOf);

describe('tiers of the tests', () => {
  it('have each test file once', () => {
    const counted = files.map((path) => [path, configs.filter((config) => runs(config, path)).length]);
    expect(counted.filter(([, count]) => count !== 1)).toEqual([]);
    expect(files.length).toBeGreaterThan(500);
  });

  it.each(tiers.map((tier, position) => [tier, position] as const))('have files in %s', (_tier, position) => {
    expect(files.some((path) => runs(configs[position]!, path))).toBe(true);
  });

  it('have a run of an agent, one of a workflow and the documented commands in `npm test`', () => {
    const parts = ['e2e/runs/run', 'services/workflow-runs/runs/runs', 'e2e/docs/commands', 'e2e/launch/run-contract'];
    for (const part of parts) {
      expect(runs(configs[0]!, `test/${part}.test.ts`)).toBe(true);
    }
  });
});

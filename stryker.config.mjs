/** Stryker for one group of guards, or all; `npm run test:mutation` runs it once a group. See docs/develop/testing.md. */
import { readFileSync } from 'node:fs';
import { mutateGuardsOnly } from './scripts/mutation/guard-mutators.mjs';

mutateGuardsOnly();

const groups = JSON.parse(readFileSync(new URL('scripts/mutation/groups.json', import.meta.url), 'utf8'));
const group = process.env.MUTATION_GROUP;
const chosen = group === undefined ? Object.values(groups) : [groups[group]];

export default {
  testRunner: 'jest',
  // What a group's tests load decides how long a mutant takes: Stryker chooses among them by name only, after loading all.
  jest: { configFile: 'jest.mutation.config.cjs', enableFindRelatedTests: false },
  coverageAnalysis: 'perTest',
  mutate: chosen.flatMap(({ sources }) => sources),
  checkers: [],
  disableTypeChecks: false,
  concurrency: 1,
  // Each run of jest leaves modules behind in its process.
  maxTestRunnerReuse: 40,
  // What takes too long counts as found: long enough that a loaded machine is no finding.
  timeoutMS: 60_000,
  reporters: ['progress-append-only', 'clear-text', 'json'],
  clearTextReporter: { allowColor: false, logTests: false, reportTests: false, reportScoreTable: false },
  jsonReporter: { fileName: `.cache/mutation/${group ?? 'all'}.json` },
  tempDirName: `.cache/stryker-${group ?? 'all'}`,
  ignorePatterns: ['.cache', 'dist', 'bench', 'docs', 'deploy', 'examples', '.board*'],
  thresholds: { high: 95, low: 85, break: 85 },
};

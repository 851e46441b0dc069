/** `npm run test:mutation`: docs/testing.md says what it covers and what it scored. */
import { mutateGuardsOnly } from './scripts/mutation/guard-mutators.mjs';

mutateGuardsOnly();

export default {
  testRunner: 'jest',
  jest: { configFile: 'jest.mutation.config.cjs', enableFindRelatedTests: false },
  coverageAnalysis: 'perTest',
  mutate: [
    ...['reservation', 'attempt', 'queue', 'active-run', 'launch', 'approval', 'claim', 'ceremony', 'watchdog'],
    ...['phase', 'tree', 'run-command', 'recovery', 'rewind', 'checkpoint', 'worktree'],
  ]
    .map((name) => `stores/${name}-store.ts`)
    .concat(
      'stores/capacity-ledger.ts',
      'stores/insert.ts',
      'services/workflow-runs/runs/store.ts',
      'services/workflow-runs/usage/totals.ts',
      'stores/board-files/durable-file.ts',
      ...['confirm', 'decide', 'hold'].map((name) => `activities/admission-control/${name}.ts`),
      ...['completion', 'scheduler', 'task', 'worktree/lease'].map((name) => `activities/${name}.ts`),
      'providers/agents/process/ask-leave.ts',
      ...['admission/{capacity,breaker,budget}', 'ceremonies/*', 'recovery/*', 'integrity'].map(
        (name) => `runs/${name}.ts`,
      ),
      '!**/*.test.ts',
    ),
  checkers: [],
  disableTypeChecks: false,
  concurrency: 2,
  // What takes too long counts as found: long enough that a loaded machine is no finding.
  timeoutMS: 20_000,
  reporters: ['clear-text', 'json'],
  clearTextReporter: { allowColor: false, logTests: false, reportTests: false },
  jsonReporter: { fileName: '.cache/mutation.json' },
  tempDirName: '.cache/stryker',
  ignorePatterns: ['.cache', 'dist', 'bench', 'docs', 'deploy', 'examples', '.board*'],
  thresholds: { high: 95, low: 85, break: 85 },
};

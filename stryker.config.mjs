/** `npm run test:mutation`: docs/develop/testing.md says what it covers and what it scored. */
import { mutateGuardsOnly } from './scripts/mutation/guard-mutators.mjs';

mutateGuardsOnly();

export default {
  testRunner: 'jest',
  jest: { configFile: 'jest.mutation.config.cjs', enableFindRelatedTests: false },
  coverageAnalysis: 'perTest',
  mutate: [
    ...['reservation-store', 'queue-store', 'active-run-store', 'tree-store', 'capacity-ledger'].map(
      (name) => `stores/runs/admission/${name}.ts`,
    ),
    ...['attempt', 'approval', 'claim', 'watchdog', 'phase', 'command', 'recovery'].map(
      (name) => `stores/runs/${name}-store.ts`,
    ),
    ...['rewind', 'checkpoint', 'worktree'].map((name) => `stores/runs/workspaces/${name}-store.ts`),
    'stores/runs/launch/launch-store.ts',
    'stores/governance/ceremony-store.ts',
    'stores/port/insert.ts',
    'stores/board-files/format/durable-file.ts',
    'services/workflow-runs/runs/store.ts',
    'services/workflow-runs/usage/totals.ts',
    ...['admission/{confirm,decide,hold}', 'completion/{activities,task}'].map(
      (name) => `activities/agent-run/${name}.ts`,
    ),
    'activities/admission-scheduler/activities.ts',
    'activities/worktree/lease.ts',
    'providers/agents/process/permission-requests.ts',
    ...['admission/{capacity,breaker,budget}', 'ceremonies/*', 'recovery/*', 'integrity'].map(
      (name) => `domain/${name}.ts`,
    ),
    '!**/*.test.ts',
  ],
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

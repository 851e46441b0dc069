import simpleImportSort from 'eslint-plugin-simple-import-sort';
import tseslint from 'typescript-eslint';
import { layerRules } from './scripts/lint/layers.mjs';

/** Names that stood where the field has a term, which docs/develop/glossary.md says. */
const avoidedNames = [
  'bury',
  'buried',
  'goOn',
  'giveBack',
  'letGo',
  'wordless',
  'takeUp',
  'lookOutside',
  'ender',
  'farewell',
  'obey',
  'stranger',
  'onBoard',
  'whereabouts',
  'keptId',
  'lineUp',
  'everyTask',
  'inBulk',
  'fitInto',
  'leaveRunning',
  'outOfReach',
  'renewOne',
  'hurry',
  'upkeep',
  'askAgain',
  'sinceTaken',
  'tellOrRefuse',
  'tellPhase',
  'keepRunning',
  'keepSchedule',
  'lookAtRoster',
  'lookAtRules',
  'takeUpLocal',
  'sayEveryMs',
  'appendAndTell',
  'asHeard',
  'hear',
  'heard',
  'hears',
  'isTold',
  'lastHeardFirst',
  'sleeper',
  'nobody',
  'said',
  'says',
  'tell',
  'telling',
  'tells',
  'told',
  'untold',
];

/** What needs no types. The rules that do are those of `.oxlintrc.json`, which checks types as well. */
export default tseslint.config(
  { ignores: ['**/dist/**', '**/node_modules/**', '**/target/**', '.board*/**', '.cache/**'] },
  ...tseslint.configs.strict,
  {
    plugins: { 'simple-import-sort': simpleImportSort },
    rules: {
      // One block: modules of Node, packages, then ours from far to near.
      'simple-import-sort/imports': ['error', { groups: [['^\\u0000', '^node:', '^@?\\w', '^']] }],
      'simple-import-sort/exports': 'error',
      '@typescript-eslint/consistent-type-imports': 'error',
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_', varsIgnorePattern: '^_' }],
      'no-console': 'error',
      eqeqeq: 'error',
      curly: ['error', 'all'],
      'id-denylist': ['error', ...avoidedNames],
    },
  },
  { files: ['**/*.cjs', 'jest.config.js'], rules: { '@typescript-eslint/no-require-imports': 'off' } },
  {
    files: ['scripts/**', 'bench/**', 'examples/**', 'test/chaos/main.ts'],
    rules: { 'no-console': 'off' },
  },
  {
    files: ['test/**/*.ts', '**/*.test.ts'],
    rules: { '@typescript-eslint/no-non-null-assertion': 'off' },
  },
  {
    files: [
      '{activities,api,bench,domain,examples,platform,providers,scripts,services,stores,worker,workflows}/**/*.{ts,mjs}',
    ],
    ignores: ['**/*.test.ts'],
    // From the fourth parameter on, a function takes an options object.
    rules: { 'max-params': ['error', { max: 3 }] },
  },
  {
    files: ['{activities,api,domain,platform,providers,services,stores,worker,workflows}/**/*.ts'],
    ignores: ['**/*.test.ts', 'platform/http/abortable-fetch.ts'],
    rules: {
      'no-restricted-globals': [
        'error',
        { name: 'fetch', message: 'Use abortableFetch, whose signal also ends a body that is being read.' },
      ],
    },
  },
  ...layerRules,
);

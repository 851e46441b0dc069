import tseslint from 'typescript-eslint';

/**
 * Which folders a folder may not import from, and why. `typesAllowed`: `import type` passes. `depth`: how many steps up a
 * banned folder is at least, where a folder has folders of the same names in it.
 */
const boundary = (folder, banned, message, typesAllowed = false, depth = 1) => ({
  files: [`${folder}/**/*.ts`],
  ignores: ['**/*.test.ts'],
  rules: {
    '@typescript-eslint/no-restricted-imports': [
      'error',
      {
        patterns: [
          { regex: `^(\\.\\./){${depth},}(${banned.join('|')})(/|$)`, message, allowTypeImports: typesAllowed },
        ],
      },
    ],
  },
});

export default tseslint.config(
  { ignores: ['dist/**', 'node_modules/**', '**/target/**', '.board*/**', '.cache/**'] },
  ...tseslint.configs.strictTypeChecked,
  {
    languageOptions: {
      parserOptions: { projectService: { allowDefaultProject: ['*.mjs', '*.js', '*.cjs', 'scripts/*.mjs'] } },
    },
    rules: {
      '@typescript-eslint/consistent-type-imports': 'error',
      '@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: true, allowBoolean: true }],
      '@typescript-eslint/no-confusing-void-expression': [
        'error',
        { ignoreArrowShorthand: true, ignoreVoidReturningFunctions: true },
      ],
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_', varsIgnorePattern: '^_' }],
      // Ports are implemented by adapters that may answer at once: `async` without `await` keeps errors as rejections.
      '@typescript-eslint/require-await': 'off',
      'no-console': 'error',
      eqeqeq: 'error',
    },
  },
  { files: ['**/*.mjs', '**/*.cjs', '**/*.js'], ...tseslint.configs.disableTypeChecked },
  { files: ['**/*.cjs', 'jest.config.js'], rules: { '@typescript-eslint/no-require-imports': 'off' } },
  {
    files: ['scripts/**', 'bench/**', 'examples/**', 'test/chaos/main.ts'],
    rules: { 'no-console': 'off' },
  },
  {
    files: ['test/**/*.ts', '**/*.test.ts'],
    // Answers of the service are JSON that a test describes by what it expects of it.
    rules: {
      '@typescript-eslint/no-non-null-assertion': 'off',
      '@typescript-eslint/no-unsafe-assignment': 'off',
      '@typescript-eslint/no-unsafe-member-access': 'off',
      '@typescript-eslint/no-unsafe-argument': 'off',
      '@typescript-eslint/no-unsafe-return': 'off',
      '@typescript-eslint/no-unsafe-call': 'off',
      '@typescript-eslint/restrict-plus-operands': 'off',
      '@typescript-eslint/restrict-template-expressions': 'off',
    },
  },
  boundary(
    'contracts',
    ['api', 'workflows', 'activities', 'worker', 'stores', 'providers', 'runs', 'platform'],
    'Contracts know shapes only.',
  ),
  boundary(
    'platform',
    ['api', 'workflows', 'activities', 'worker', 'stores', 'providers', 'runs', 'contracts'],
    'Platform is below everything and knows no resource.',
    true,
  ),
  boundary(
    'runs',
    ['api', 'workflows', 'activities', 'worker', 'stores', 'providers'],
    'The domain of a run is pure.',
    true,
  ),
  boundary(
    'stores',
    ['api', 'workflows', 'activities', 'worker', 'providers'],
    'Stores persist; they call nothing above them.',
  ),
  boundary(
    'providers',
    ['api', 'workflows', 'activities', 'worker', 'stores'],
    'Providers reach the outside world and nothing else.',
    true,
  ),
  boundary(
    'services',
    ['api', 'workflows', 'activities', 'worker', 'providers', 'runs', 'contracts'],
    'A small service shares platform and stores with the board, and nothing else.',
    false,
    2,
  ),
  boundary(
    'approvals',
    ['api', 'activities', 'worker', 'providers'],
    'Asking for approval is called by HTTP and by activities, and calls neither.',
  ),
  boundary('activities', ['api', 'worker'], 'Activities are called by workflows, not by HTTP.'),
  boundary(
    'api',
    ['activities', 'worker', 'providers'],
    'HTTP calls stores or starts workflows; side effects are activities.',
    true,
  ),
  {
    files: ['workflows/**/*.ts', 'services/*/**/workflow.ts'],
    rules: {
      '@typescript-eslint/no-restricted-imports': [
        'error',
        {
          patterns: [
            {
              regex:
                '^(\\.\\./)+(api|worker|stores|providers|platform(?!/(temporal/search-attributes|temporal/task-timeout|crypto/message-proof-shape)$)|runs|activities|contracts)(/|$)',
              message: 'Workflow code takes types only: values would enter the deterministic bundle.',
              allowTypeImports: true,
            },
            {
              regex: '^(node:|(?!@temporalio/(workflow|common)|\\.)).*',
              message: 'Workflow code imports nothing but @temporalio/workflow and @temporalio/common.',
              allowTypeImports: true,
            },
          ],
        },
      ],
    },
  },
);

const { availableParallelism } = require('node:os');
const { preferMemory } = require('./test/tiers/temporary-directory.cjs');
const { enlargeYoungGeneration } = require('./test/tiers/young-generation.cjs');

preferMemory();
enlargeYoungGeneration();

/**
 * Every test: those beside pure files, and everything that crosses a file boundary under `test/`. `npx jest <path>` runs any of
 * them; `test/tiers` has the parts that `npm test` and its kind run.
 */
module.exports = {
  rootDir: __dirname,
  testEnvironment: '<rootDir>/test/environment/environment.cjs',
  roots: ['<rootDir>'],
  testMatch: ['**/*.test.ts'],
  testPathIgnorePatterns: ['/node_modules/', '/dist/', '/.board', '<rootDir>/.cache/'],
  modulePathIgnorePatterns: ['<rootDir>/dist/', '<rootDir>/clients/typescript/dist/', '<rootDir>/.cache/'],
  transform: {
    '^.+\\.(ts|js)$': [
      '@swc/jest',
      {
        jsc: { parser: { syntax: 'typescript' }, target: 'es2023' },
        module: { type: 'commonjs' },
        sourceMaps: 'inline',
      },
    ],
  },
  // What was transformed once is not again, whichever directory for temporary files the next run has.
  cacheDirectory: '<rootDir>/node_modules/.cache/jest',
  // Packages that are ES modules only, which this runner cannot require as Node can.
  transformIgnorePatterns: [
    '/node_modules/(?!(@agentclientprotocol|@gitbeaker|@octokit|before-after-hook|jose|json-with-bigint|oauth4webapi|openid-client|request-filtering-agent|universal-user-agent)/)',
  ],
  globalSetup: '<rootDir>/test/support/global-setup.ts',
  globalTeardown: '<rootDir>/test/support/global-teardown.ts',
  reporters: ['default', '<rootDir>/test/tiers/slowest-reporter.cjs'],
  // A test that waits for nothing any more ends in time; one on a machine that is busy otherwise is not to fail for that.
  testTimeout: 300_000,
  // Tests wait for processes more than half of their time: with three on two cores a quarter of these is idle.
  maxWorkers: Math.min(availableParallelism() * 2, 8),
  // Starting a process copies the page tables of the one that starts it: at 2 GB, which a worker comes to after a hundred
  // files, each agent and service costs 15 ms more than in a young one.
  testEnvironmentOptions: { workerHeapMb: 700 },
};

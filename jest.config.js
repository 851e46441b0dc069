/** One jest project: tests beside pure files, and everything that crosses a file boundary under `test/`. */
module.exports = {
  testEnvironment: 'node',
  roots: ['<rootDir>'],
  testMatch: ['**/*.test.ts'],
  testPathIgnorePatterns: ['/node_modules/', '/dist/', '/.board', '<rootDir>/.cache/'],
  modulePathIgnorePatterns: ['<rootDir>/dist/', '<rootDir>/.cache/'],
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
  // Packages that are ES modules only, which this runner cannot require as Node can.
  transformIgnorePatterns: ['/node_modules/(?!(@agentclientprotocol|@ts-graphviz|request-filtering-agent)/)'],
  globalSetup: '<rootDir>/test/support/global-setup.ts',
  globalTeardown: '<rootDir>/test/support/global-teardown.ts',
  // A test that waits for nothing any more ends in time; one on a machine that is busy otherwise is not to fail for that.
  testTimeout: 300_000,
  maxWorkers: 2,
};

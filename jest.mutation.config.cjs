/** The tests that pin fences: fast ones without a Temporal server, which `npm run test:mutation` runs per mutant. */
const { globalSetup: _setup, globalTeardown: _teardown, ...common } = require('./jest.config.js');

module.exports = {
  ...common,
  testMatch: [
    '<rootDir>/test/fences/**/*.test.ts',
    '<rootDir>/test/activities/{task,completion}.test.ts',
    '<rootDir>/test/stores/admission/{hold,scheduler}.test.ts',
    '<rootDir>/domain/{admission,ceremonies,recovery}/*.test.ts',
    '<rootDir>/domain/integrity.test.ts',
  ],
  testTimeout: 20_000,
  maxWorkers: 1,
};

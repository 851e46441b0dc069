/** The tests of one group of `scripts/mutation/groups.json`, or of all: fast ones without a Temporal server. */
const { globalSetup: _setup, globalTeardown: _teardown, ...common } = require('./jest.config.js');
const groups = require('./scripts/mutation/groups.json');

const group = process.env.MUTATION_GROUP;
const tests = (group === undefined ? Object.values(groups) : [groups[group]]).flatMap((each) => each.tests);

module.exports = {
  ...common,
  testMatch: [...new Set(tests)].map((file) => `<rootDir>/${file}`),
  // Ends a test that waits for what a mutant never does, many times over what any of them takes.
  testTimeout: 10_000,
  testEnvironment: require.resolve('./scripts/mutation/bail-environment.cjs'),
  maxWorkers: 1,
};

/**
 * Skips what is left of the tests once one has failed with the active mutant: Stryker cannot stop jest at the first failure,
 * and tests of a broken guard often wait until their time is over.
 */
const { TestEnvironment } = require('jest-environment-node');

/** The mutant that a test of this process found, across test files. */
let found;

module.exports = class BailEnvironment extends TestEnvironment {
  handleTestEvent({ name, test }) {
    const mutant = process.env.__STRYKER_ACTIVE_MUTANT__;
    if (mutant === undefined) {
      return;
    }
    if (name === 'test_done' && test.errors.length > 0) {
      found = mutant;
    }
    if (name === 'test_start' && found === mutant) {
      test.mode = 'skip';
    }
  }
};

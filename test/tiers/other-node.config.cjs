/** The unit tests on another Node than the packages were installed with: addons that are compiled for one do not load. */
const unit = require('./unit.config.cjs');

module.exports = {
  ...unit,
  testPathIgnorePatterns: [...unit.testPathIgnorePatterns, '/services/bitmap/threads/copies\\.test\\.ts$'],
};

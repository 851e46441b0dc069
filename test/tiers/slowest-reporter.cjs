/** Prints the test files that took longest, so that the tiers stay as fast as documented. */
const { relative } = require('node:path');

const shown = 10;

module.exports = class SlowestReporter {
  constructor({ rootDir }) {
    this.rootDir = rootDir;
  }

  onRunComplete(_contexts, { testResults }) {
    // Who runs a few files by name sees their times anyway.
    if (testResults.length <= shown) {
      return;
    }
    const seconds = ({ perfStats: { start, end } }) => (end - start) / 1000;
    const slowest = testResults.toSorted((a, b) => seconds(b) - seconds(a)).slice(0, shown);
    const total = testResults.reduce((sum, result) => sum + seconds(result), 0);
    const lines = slowest.map((result) => {
      const path = relative(this.rootDir, result.testFilePath);
      return `${seconds(result).toFixed(1).padStart(7)} s  ${path}`;
    });
    const heading = `The ${shown} slowest of ${testResults.length} test files, which took ${total.toFixed(0)} s in all:`;
    process.stderr.write(`\n${[heading, ...lines].join('\n')}\n`);
  }
};

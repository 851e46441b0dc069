/** `npm run test:crash`: kills and soaks. */
const { availableParallelism } = require('node:os');
const { testMatch: _match, ...all } = require('../../jest.config.js');
const { crash } = require('./files.cjs');

module.exports = {
  ...all,
  testRegex: crash,
  // These start many processes each, and so fill the cores by themselves.
  maxWorkers: Math.min(availableParallelism(), 4),
};

/** `npm run test:e2e`: runs of agents and of workflows, with API, worker and Temporal together. */
const { testMatch: _match, ...all } = require('../../jest.config.js');
const { crash, e2e } = require('./files.cjs');

module.exports = { ...all, testRegex: e2e, testPathIgnorePatterns: [...all.testPathIgnorePatterns, ...crash] };

/** The tests with the real packages of agents, for `npm run test:agents`, which installs those. */
const all = require('../../jest.config.js');

module.exports = { ...all, testMatch: ['**/test/agents/*.package.ts'] };

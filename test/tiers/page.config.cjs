/** `npm run test:page`: the page in a real browser, over a whole service. */
const { testMatch: _match, ...all } = require('../../jest.config.js');
const { page } = require('./files.cjs');

// A browser and a service fill two cores by themselves.
module.exports = { ...all, testRegex: page, maxWorkers: 1 };

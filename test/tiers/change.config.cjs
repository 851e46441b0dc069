/** `npm test`: all that a change must pass at a desk. */
const all = require('../../jest.config.js');
const { crash, e2e, page } = require('./files.cjs');

module.exports = { ...all, testPathIgnorePatterns: [...all.testPathIgnorePatterns, ...crash, ...e2e, ...page] };

/** `npm test`: all that a change must pass. */
const all = require('../../jest.config.js');
const { crash, page } = require('./files.cjs');

module.exports = { ...all, testPathIgnorePatterns: [...all.testPathIgnorePatterns, ...crash, ...page] };

/** `npm run test:unit`: pure code, in seconds. No build and no Temporal server. */
const { globalSetup: _setup, globalTeardown: _teardown, ...all } = require('../../jest.config.js');
const { crash, notUnit } = require('./files.cjs');

module.exports = { ...all, testPathIgnorePatterns: [...all.testPathIgnorePatterns, ...crash, ...notUnit] };

/**
 * Lets plain `node` run the TypeScript sources, for tests that need real child processes:
 * `node -r ./test/support/register-ts.cjs some/file.ts`. Types are stripped, not checked. What was transformed once is read
 * from a cache beside that of jest.
 */
const { createHash } = require('node:crypto');
const { mkdirSync, readFileSync, renameSync, writeFileSync } = require('node:fs');
const { join } = require('node:path');

const cache = join(__dirname, '..', '..', 'node_modules', '.cache', 'sources');
const options = {
  jsc: { parser: { syntax: 'typescript' }, target: 'es2023' },
  module: { type: 'commonjs' },
  sourceMaps: 'inline',
};
const { version } = require('@swc/core/package.json');

/** Where the result for this source is stored, by everything that it depends on. */
function cachedAt(filename, source) {
  const key = createHash('sha256')
    .update(JSON.stringify([version, options, filename]))
    .update(source)
    .digest('hex');
  return join(cache, `${key}.js`);
}

function transformed(filename) {
  const source = readFileSync(filename, 'utf8');
  const path = cachedAt(filename, source);
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if (error.code !== 'ENOENT') {
      throw error;
    }
  }
  const { code } = require('@swc/core').transformSync(source, { filename, ...options });
  mkdirSync(cache, { recursive: true });
  // Other processes read the cache at the same time: they find a whole file or none.
  const written = `${path}.${process.pid}`;
  writeFileSync(written, code);
  renameSync(written, path);
  return code;
}

/** The code of each source that this process has loaded, with its map. */
const loaded = new Map();

require.extensions['.ts'] = (module, filename) => {
  const code = transformed(filename);
  loaded.set(filename, code);
  module._compile(code, filename);
};

/** The source map of a source that this process has loaded, in the form of the package `source-map-support`. */
exports.retrieveSourceMap = (filename) => {
  const [, encoded] =
    /\n\/\/# sourceMappingURL=data:application\/json;[^,]*base64,(.+)/.exec(loaded.get(filename) ?? '') ?? [];
  return encoded === undefined ? null : { url: filename, map: Buffer.from(encoded, 'base64').toString() };
};

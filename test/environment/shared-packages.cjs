/**
 * Lets test files share packages and the sources of the project: Node itself loads each of them once for a worker of jest, as
 * it does for the service, and not once more for every test file. What is under `test/` stays each test file's own, and so do
 * the sources, but for the contracts, in a file that replaces modules with mocks.
 */
const { join, sep } = require('node:path');
const vm = require('node:vm');
const { retrieveSourceMap } = require('../support/register-ts.cjs');
const { reuseWorkflowThreads } = require('./workflow-threads.cjs');
const { dependencies, devDependencies } = require('../../package.json');

/** The runner belongs to the test file that it runs. */
const ofTheRunner = /^(?:@jest\/|jest$|@stryker-mutator\/)/;
const shared = new Set(Object.keys({ ...dependencies, ...devDependencies }).filter((name) => !ofTheRunner.test(name)));

/** The package that a file is in, which is not one inside another package. */
const packageOf = (filename) => /^(?:(?!\/node_modules\/).)*\/node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(filename)?.[1];

const isTest = (filename) => filename.endsWith('.test.ts');

const inLayers = (...layers) => {
  const folders = layers.map((layer) => join(__dirname, '..', '..', layer, sep));
  return (filename) => filename.endsWith('.ts') && folders.some((folder) => filename.startsWith(folder));
};
const isContract = inLayers('contracts');
const isSource = inLayers(
  ...[
    'activities',
    'api',
    'cli',
    'client',
    'domain',
    'platform',
    'providers',
    'services',
    'stores',
    'worker',
    'workflows',
  ],
);

/** Whether the present test file has its own sources. */
let ownSources = false;
const replacesModules = (source) => /\bjest\.(?:mock|doMock|isolateModules)\(/.test(source);

/** What a test file compiles of its own, by its file: calling it again evaluates the module again, and spares the parser. */
const compiled = new Map();

function compileOnce(compile, { source, parameters, filename }) {
  const known = compiled.get(filename);
  if (known?.source === source && known.parameters.join() === parameters.join()) {
    return known.body;
  }
  // Without the callback for `import()`, of which transformed sources have none: it would keep the first test file's runner.
  const body = compile(source, parameters, { filename });
  compiled.set(filename, { source, parameters, body });
  return body;
}

/** The runner's package that maps stack traces, of which each test file would install one that knows its own sources only. */
const mapsSources = ({ install, ...rest }) => ({
  ...rest,
  install: ({ retrieveSourceMap: ofTheFile, ...options }) =>
    install({
      ...options,
      // Otherwise the package would keep what each test file has installed.
      overrideRetrieveSourceMap: true,
      // Of a shared source, the code that Node compiled is the one that runs.
      retrieveSourceMap: (filename) => (ownSources ? null : retrieveSourceMap(filename)) ?? ofTheFile?.(filename),
    }),
});

/**
 * Makes `vm.compileFunction`, through which jest loads whatever a test requires, compile in this realm, and hand out what
 * Node loads for packages and sources.
 */
exports.sharePackages = () => {
  const { compileFunction } = vm;
  vm.compileFunction = (source, parameters, options) => {
    if (options?.parsingContext !== globalThis) {
      return compileFunction(source, parameters, options);
    }
    const { parsingContext: _, ...inThisRealm } = options;
    const { filename } = options;
    const name = packageOf(filename);
    if (shared.has(name)) {
      return (module) => {
        module.exports = require(filename);
        if (name === '@temporalio/worker') {
          reuseWorkflowThreads();
        }
      };
    }
    if (name === 'source-map-support' && filename.endsWith(`${sep}source-map-support.js`)) {
      return (module) => {
        module.exports = mapsSources(require(filename));
      };
    }
    if (isTest(filename)) {
      ownSources = replacesModules(source);
      return compileFunction(source, parameters, inThisRealm);
    }
    if (isContract(filename) || (!ownSources && isSource(filename))) {
      return (module) => {
        module.exports = require(filename);
      };
    }
    return compileOnce(compileFunction, { source, parameters, filename });
  };
};

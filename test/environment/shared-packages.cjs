/**
 * Lets test files share packages: Node itself loads each of them once for a worker of jest, as it does for the service, and
 * not once more for every test file. The sources of the project stay each test file's own, except for the contracts: a schema
 * has no state, and they import nothing but zod.
 */
const { join, sep } = require('node:path');
const vm = require('node:vm');
const { reuseWorkflowThreads } = require('./workflow-threads.cjs');
const { dependencies, devDependencies } = require('../../package.json');

/** The runner belongs to the test file that it runs. */
const ofTheRunner = /^(?:@jest\/|jest$|@stryker-mutator\/)/;
const shared = new Set(Object.keys({ ...dependencies, ...devDependencies }).filter((name) => !ofTheRunner.test(name)));

/** The package that a file is in, which is not one inside another package. */
const packageOf = (filename) => /^(?:(?!\/node_modules\/).)*\/node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(filename)?.[1];

const isTest = (filename) => filename.endsWith('.test.ts');

const contracts = join(__dirname, '..', '..', 'contracts', sep);
const isContract = (filename) => filename.startsWith(contracts) && !isTest(filename);

/**
 * What was compiled, by its file: calling it again evaluates the module again, with state of its own, and spares the parser
 * and the optimizer, which take as long as the evaluation.
 */
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

/** What the contracts export, by their file. */
const evaluated = new Map();

/** The body of a module that is evaluated for the first test file which loads it; the others get what that one got. */
function evaluateOnce(body, filename) {
  return function evaluate(module, ...rest) {
    if (!evaluated.has(filename)) {
      body.call(this, module, ...rest);
      evaluated.set(filename, module.exports);
    }
    module.exports = evaluated.get(filename);
  };
}

/** Makes `vm.compileFunction`, through which jest loads whatever a test requires, compile in this realm, except for packages. */
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
    if (isTest(filename)) {
      return compileFunction(source, parameters, inThisRealm);
    }
    const body = compileOnce(compileFunction, { source, parameters, filename });
    return isContract(filename) ? evaluateOnce(body, filename) : body;
  };
};

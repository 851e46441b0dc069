/**
 * Lets test files share packages: Node itself loads each of them once for a worker of jest, as it does for the service, and
 * not once more for every test file. The sources of the project stay each test file's own.
 */
const vm = require('node:vm');
const { dependencies, devDependencies } = require('../../package.json');

/** The runner belongs to the test file that it runs. */
const ofTheRunner = /^(?:@jest\/|jest$|@stryker-mutator\/)/;
const shared = new Set(Object.keys({ ...dependencies, ...devDependencies }).filter((name) => !ofTheRunner.test(name)));

/** The package that a file is in, which is not one inside another package. */
const packageOf = (filename) => /^(?:(?!\/node_modules\/).)*\/node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(filename)?.[1];

/** Makes `vm.compileFunction`, through which jest loads whatever a test requires, compile in this realm, except for packages. */
exports.sharePackages = () => {
  const { compileFunction } = vm;
  vm.compileFunction = (source, parameters, options) => {
    if (options?.parsingContext !== globalThis) {
      return compileFunction(source, parameters, options);
    }
    const { parsingContext: _, ...inThisRealm } = options;
    if (shared.has(packageOf(options.filename))) {
      return (module) => {
        module.exports = require(options.filename);
      };
    }
    return compileFunction(source, parameters, inThisRealm);
  };
};

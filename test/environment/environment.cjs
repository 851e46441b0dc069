const { LegacyFakeTimers, ModernFakeTimers } = require('@jest/fake-timers');
const { ModuleMocker } = require('jest-mock');
const { releaseTests } = require('./ended-tests.cjs');
const { disableLocalStorages, watchLocalStorages } = require('./local-storages.cjs');
const { sharePackages } = require('./shared-packages.cjs');

sharePackages();
watchLocalStorages();

/** What the runner keeps of a test file on the global object, where the next one would find it. */
const kept = /^Symbol\((?:EVENT_HANDLERS|JEST_STATE_SYMBOL|RETRY_TIMES_SETTER)\)$/;

let isFirstFile = true;

/**
 * Ends a worker that has more memory than it should: the runner begins the file in a new one. The runner's own limit,
 * `workerIdleMemoryLimit`, kills a worker that may run its next file already, whose processes and directories are then left.
 */
function replaceLargeWorker(heapMb) {
  const isWorker = /jest-worker\W+build\W+processChild\.js$/.test(process.argv[1] ?? '');
  if (isWorker && !isFirstFile && process.memoryUsage().heapUsed > heapMb * 2 ** 20) {
    process.exit(1);
  }
  isFirstFile = false;
}

const timerConfig = {
  idToRef: (id) => ({
    id,
    ref() {
      return this;
    },
    unref() {
      return this;
    },
  }),
  refToId: (timer) => timer?.id,
};

/**
 * Runs test files in the realm of Node's own modules and of the packages, as the service is: `instanceof` holds between all
 * of them, and packages are loaded once (`shared-packages.cjs`). What a file does to the process ends with it.
 */
module.exports = class OneRealmEnvironment {
  constructor({ projectConfig: config }) {
    replaceLargeWorker(config.testEnvironmentOptions.workerHeapMb ?? Infinity);
    this.global = globalThis;
    this.moduleMocker = new ModuleMocker(globalThis);
    this.fakeTimers = new LegacyFakeTimers({
      config,
      global: globalThis,
      moduleMocker: this.moduleMocker,
      timerConfig,
    });
    // Given the global object itself they would replace the functions of `node:timers` too, with which tests wait meanwhile.
    this.fakeTimersModern = new ModernFakeTimers({ config, global: new Proxy(globalThis, {}) });
    const { console } = globalThis;
    const { env, exit } = process;
    this.before = { console, exit, environment: { ...env }, directory: process.cwd(), umask: process.umask() };
  }

  async setup() {}

  /** Called by the runner for each of its events. */
  handleTestEvent({ name }, { rootDescribeBlock }) {
    if (name === 'teardown') {
      releaseTests(rootDescribeBlock);
    }
  }

  async teardown() {
    this.fakeTimers.dispose();
    this.fakeTimersModern.dispose();
    disableLocalStorages();
    const { console, exit, environment, directory, umask } = this.before;
    globalThis.console = console;
    process.exit = exit;
    for (const name of Object.keys(process.env).filter((name) => !(name in environment))) {
      Reflect.deleteProperty(process.env, name);
    }
    Object.assign(process.env, environment);
    process.chdir(directory);
    process.umask(umask);
    for (const key of Object.getOwnPropertySymbols(globalThis).filter((key) => kept.test(String(key)))) {
      Reflect.deleteProperty(globalThis, key);
    }
  }

  exportConditions() {
    return ['node', 'node-addons'];
  }

  getVmContext() {
    return globalThis;
  }
};

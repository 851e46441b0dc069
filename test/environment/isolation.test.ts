import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import type * as sequence from './fixtures/sequence';

/** The module as another test file would load it. */
function loadAgain(): typeof sequence {
  let loaded: typeof sequence | undefined;
  jest.isolateModules(() => {
    loaded = jest.requireActual<typeof sequence>('./fixtures/sequence');
  });
  if (!loaded) {
    throw new Error('The module was not loaded.');
  }
  return loaded;
}

describe('test environment', () => {
  it('gives each evaluation of a source its own state, though it is compiled once', () => {
    const [first, second] = [loadAgain(), loadAgain()];

    expect([first.next(), first.next(), second.next()]).toEqual([1, 2, 1]);
    expect(first.next).not.toBe(second.next);
  });

  it('evaluates packages once', () => {
    expect(loadAgain().packageFunction).toBe(loadAgain().packageFunction);
  });

  it('releases what the tests and hooks of an ended file hold', () => {
    const test = { type: 'test', fn: loadAgain, asyncError: new Error('of the test'), errors: [['failed']] };
    const hook = { type: 'beforeEach', fn: loadAgain, asyncError: new Error('of the hook') };
    const describeBlock = { type: 'describeBlock', children: [test], hooks: [hook], tests: [test] };
    const root = { type: 'describeBlock', children: [describeBlock], hooks: [], tests: [] };

    jest.requireActual<{ releaseTests(block: object): void }>('./ended-tests.cjs').releaseTests(root);

    for (const { fn, asyncError } of [test, hook]) {
      expect([fn, asyncError]).toEqual([undefined, undefined]);
    }
    expect(test.errors).toEqual([]);
    for (const { children, hooks, tests } of [root, describeBlock]) {
      expect([children, hooks, tests]).toEqual([[], [], []]);
    }
  });

  it('disables the local storages that were entered, which can be entered again', () => {
    // In a process of its own: the runner of this file has entered one, too.
    const script = `
      const { AsyncLocalStorage } = require('node:async_hooks');
      const { watchLocalStorages, disableLocalStorages } = require(${JSON.stringify(join(__dirname, 'local-storages.cjs'))});
      watchLocalStorages();
      const storage = new AsyncLocalStorage();
      storage.enterWith('first');
      const stores = [storage.getStore()];
      disableLocalStorages();
      stores.push(storage.getStore() ?? 'none', storage.run('again', () => storage.getStore()));
      console.log(stores.join());`;
    const { stdout } = spawnSync(process.execPath, ['-e', script], { encoding: 'utf8' });
    expect(stdout).toBe('first,none,again\n');
  });
});

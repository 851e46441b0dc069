import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import type * as common from '../../contracts/common';
import type * as sequence from './fixtures/sequence';

/** What a module exports to another test file. */
function loadAgain(path: string): unknown {
  let loaded: unknown;
  jest.isolateModules(() => {
    loaded = jest.requireActual(path);
  });
  return loaded;
}

const loadSequence = () => loadAgain('./fixtures/sequence') as typeof sequence;
const loadContracts = () => loadAgain('../../contracts/common') as typeof common;

describe('test environment', () => {
  it('gives each evaluation of a source its own state, though it is compiled once', () => {
    const [first, second] = [loadSequence(), loadSequence()];

    expect([first.next(), first.next(), second.next()]).toEqual([1, 2, 1]);
    expect(first.next).not.toBe(second.next);
  });

  it('evaluates packages once', () => {
    expect(loadSequence().packageFunction).toBe(loadSequence().packageFunction);
  });

  it('evaluates contracts once', () => {
    expect(loadContracts().taskId).toBe(loadContracts().taskId);
    expect(loadContracts().taskId.safeParse('a task').success).toBe(false);
  });

  it('releases what the tests and hooks of an ended file hold', () => {
    const test = { type: 'test', fn: loadSequence, asyncError: new Error('of the test'), errors: [['failed']] };
    const hook = { type: 'beforeEach', fn: loadSequence, asyncError: new Error('of the hook') };
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

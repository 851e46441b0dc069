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
});

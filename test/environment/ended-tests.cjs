/**
 * Releases the tests and hooks of a file that has ended. The runner runs each in an `AsyncLocalStorage`, so that a timer, a
 * socket or a resolver that a shared package created in a test holds that test, and with it every module of its file.
 *
 * @param block the outermost `describe` block of the file, whose results were read
 */
exports.releaseTests = (block) => {
  for (const child of [...block.children, ...block.hooks]) {
    if (child.type === 'describeBlock') {
      exports.releaseTests(child);
    }
    // The stack of the error holds the functions it was created in, those of the module loader among them.
    Object.assign(child, { fn: undefined, asyncError: undefined, errors: [], parent: undefined });
  }
  Object.assign(block, { children: [], hooks: [], tests: [] });
};

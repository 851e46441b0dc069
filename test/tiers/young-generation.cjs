const flags = ['--min-semi-space-size=32', '--max-semi-space-size=64'];

/**
 * Gives the processes that run test files, which take over this one's options, a large young generation: each file loads the
 * project again and leaves it behind, and collecting that in steps of a few megabytes took a seventh of their CPU.
 */
exports.enlargeYoungGeneration = () => {
  process.execArgv.push(...flags.filter((flag) => !process.execArgv.includes(flag)));
};

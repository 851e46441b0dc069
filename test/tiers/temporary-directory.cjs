const { accessSync, constants, statfsSync } = require('node:fs');

const inMemory = '/dev/shm';
/** What a whole run may leave there at a time, with a reserve for the system, in bytes. */
const needed = 8 * 2 ** 30;

/**
 * Lets this process and those it starts use a disk in memory for temporary files where there is a large one, unless
 * `TMPDIR` names another: most of what the tests wait for is a disk, and nothing they prove is about power failing.
 */
exports.preferMemory = () => {
  if (process.env.TMPDIR) {
    return;
  }
  try {
    accessSync(inMemory, constants.W_OK);
    const { bavail, bsize } = statfsSync(inMemory);
    if (bavail * bsize > needed) {
      process.env.TMPDIR = inMemory;
    }
  } catch {
    // There is none: the system's directory does as well, slower.
  }
};

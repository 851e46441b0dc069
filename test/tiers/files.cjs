/**
 * Which test file belongs to which tier, by its path. A file is in exactly one of `change`, `crash` and `page`, so that these
 * together are everything; `unit` is a part of `change`.
 */
module.exports = {
  /** Regular expressions of what takes long by its nature: kills at every step, full disks, many processes, long load. */
  crash: [
    '/test/crash/.*\\.test\\.ts$',
    '[/.-]killed\\.test\\.ts$',
    '/test/stores/(soak|full-disk/full-disk)\\.test\\.ts$',
    '/test/stores/board-files\\.processes\\.test\\.ts$',
    '/test/providers/git/(interrupted|hostile/late-holder)\\.test\\.ts$',
    '/test/providers/agents/detached-agent\\.test\\.ts$',
  ],
  /** What needs a browser: `npm run test:page`. */
  page: ['/test/page/.*\\.test\\.ts$'],
  /** What is not pure, and so neither seconds long nor without processes, is under `test/`. */
  notUnit: ['<rootDir>/test/'],
};

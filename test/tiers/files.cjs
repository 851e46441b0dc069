/**
 * Which test file belongs to which tier, by its path. A file is in exactly one of `change`, `e2e`, `crash` and `page`, so that these
 * together are everything; `unit` is a part of `change`. What is both `crash` and `e2e` is `crash`.
 */
module.exports = {
  /** Regular expressions of what takes long by its nature: kills at every step, full disks, many processes, long load. */
  crash: [
    '/test/crash/.*\\.test\\.ts$',
    '[/.-]killed\\.test\\.ts$',
    '/test/stores/(soak|full-disk/full-disk)\\.test\\.ts$',
    '/test/stores/board-files\\.processes\\.test\\.ts$',
    '/test/providers/git/(killed/interrupted|hostile/late-holder)\\.test\\.ts$',
    '/test/providers/agents/detached-agent\\.test\\.ts$',
  ],
  /**
   * Runs of agents and of workflows with API, worker and Temporal together: `npm run test:e2e`. One of each kind, and the documented
   * commands, are a part of `npm test`.
   */
  e2e: [
    '/test/e2e/(?!(docs|cli|runs/run|launch/run-contract)[/.]).*\\.test\\.ts$',
    '/test/services/workflow-runs/(commands|runs/(?!runs\\.)|stages|sessions).*\\.test\\.ts$',
  ],
  /** What needs a browser: `npm run test:page`. */
  page: ['/test/page/.*\\.test\\.ts$'],
  /** What is not pure, and so neither seconds long nor without processes, is under `test/`. */
  notUnit: ['<rootDir>/test/'],
};

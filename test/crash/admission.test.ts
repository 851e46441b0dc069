import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client, Connection } from '@temporalio/client';
import { eventually } from '../../platform/testing/eventually';
import { makeTempDir, type TempDir } from '../../platform/testing/temp-dir';
import { schedulerId } from '../../workflows/admission-scheduler/messages';
import { scriptAgent } from '../support/caller';
import { type GitBreakpoints, gitBreakpoints } from '../support/git/git-breakpoints';
import { aRepository } from '../support/git/repository';
import { persistently } from '../support/processes/persistently';
import { type Service, startService } from '../support/stack/service';
import { allEnded, expectNothingLostOrDoubled, launchAll, type Launched } from './runs';

const runs = 20;
const limit = 5;
/** Where a launch that holds capacity stands before its agent is started. */
const compiling = '*update-ref --no-deref refs/board/baselines/*';

let files: TempDir;
let witness: string;
let breakpoints: GitBreakpoints;
let service: Service;
let connection: Connection;

describe('admission after crashes', () => {
  beforeEach(async () => {
    files = await makeTempDir('crash-admission');
    witness = join(files.path, 'witness');
    writeFileSync(witness, '');
    breakpoints = await gitBreakpoints(files.path);
    service = await startService({ WITNESS: witness, PATH: breakpoints.path, BOARD_MAX_RUNS: String(limit) });
    connection = await Connection.connect({ address: service.temporalAddress });
    await service.call.addRepository('sample', await aRepository(files.path));
    await service.call.configureAgents([{ ...scriptAgent('witnessed-bee', '3', '50'), environmentKeys: ['WITNESS'] }]);
  });

  afterEach(async () => {
    await breakpoints.clear();
    await connection.close();
    await service.close();
    await files.remove();
  });

  const listed = async (path: string) => (await service.call.ok('GET', `/api/admission?${path}`)).reservations;
  const depth = async (): Promise<number> =>
    (await service.call.ok('GET', '/api/admission/queue')).depth.global.current;
  const until = (check: () => Promise<void>) => eventually(check, { everyMs: 20 });

  /** When everything is killed; those that are `held` wait there until then. */
  const moments = [
    { state: 'reserved', held: true, come: () => breakpoints.reached('held') },
    { state: 'queued', held: true, come: () => until(async () => expect(await depth()).toBeGreaterThanOrEqual(10)) },
    {
      state: 'released',
      held: false,
      come: () => until(async () => expect(await listed('state=released&limit=1')).toHaveLength(1)),
    },
  ];

  test.each(moments)(
    'api, worker and scheduler killed while launches are $state: each runs once, and gives back what it held',
    async ({ held, come }) => {
      if (held) {
        await breakpoints.set('held', 'before', compiling);
      }
      const launched: Launched[] = [];
      const launching = launchAll(service, runs, launched);
      await come();
      const { worker, api } = service.pids();
      const scheduler = new Client({ connection }).workflow.getHandle(schedulerId);
      process.kill(worker!, 'SIGKILL');
      process.kill(api!, 'SIGKILL');
      // It only lives while something is queued.
      await scheduler.terminate('killed by a test').catch(() => undefined);
      await breakpoints.clear();
      await launching;
      await allEnded(service, launched);
      expect(launched).toHaveLength(runs);
      await expectNothingLostOrDoubled(service, witness, launched);

      // An ending is recorded a moment before its capacity is released.
      await persistently(async () => expect(await listed('state=active')).toEqual([]));
      const reservations = await listed('limit=1000');
      expect(reservations.length).toBeGreaterThanOrEqual(runs);
      for (const { state, release } of reservations) {
        expect([state, release.reason]).toEqual(['released', expect.any(String)]);
      }
      expect(await depth()).toBe(0);
      const { entries } = await service.call.ok('GET', '/api/admission/queue?state=terminal');
      expect(entries).toEqual([]);
    },
  );
});

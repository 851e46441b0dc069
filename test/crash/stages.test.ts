import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { findByEnvironment } from '../../platform/processes/identity';
import { eventually } from '../../platform/testing/eventually';
import { makeTempDir, type TempDir } from '../../platform/testing/temp-dir';
import { type Answer, scriptAgent } from '../support/caller';
import { settingsInUse } from '../support/change-features';
import { type GitBreakpoints, gitBreakpoints } from '../support/git/git-breakpoints';
import { aRepository } from '../support/git/repository';
import { kill } from '../support/processes/kill';
import { persistently } from '../support/processes/persistently';
import { type Service, startService } from '../support/stack/service';
import { allEnded, expectNothingLostOrDoubled, launchAll, type Launched } from './runs';

/** Runs in each state: few enough for every test run, and as many as you like with the variable. */
const runs = Number(process.env.BOARD_CRASH_RUNS ?? 5);

interface Stage {
  name: string;
  /** The git that runs stand at while they, or those they wait for, are in this state. */
  git?: string;
  /** What shows that some of them are in it. */
  shown?: () => Promise<boolean>;
  agent?: string;
  /** How many may run at a time. */
  limit?: number;
}

let files: TempDir;
let witness: string;
let breakpoints: GitBreakpoints;
let service: Service;
let launched: Launched[];

const lines = (what: string): string[][] =>
  readFileSync(witness, 'utf8')
    .split('\n')
    .filter((line) => line.startsWith(`${what} `))
    .map((line) => line.split(' '));
/** Agents that were started since the launches of this test began. */
const startsNow = (): string[][] => lines('start').slice(startedBefore);
let startedBefore = 0;

const someStatus = async (is: (status: Answer['body']) => boolean): Promise<boolean> =>
  (await Promise.all(launched.map(({ taskId }) => service.call.status(taskId)))).some(is);
const pendingApprovals = (): Promise<Answer['body'][]> => service.call.ok('GET', '/api/run-approvals?status=pending');

const stages: Stage[] = [
  { name: 'reserved', git: 'worktree add' },
  {
    name: 'queued',
    // Two hold what the others wait for.
    limit: 2,
    git: 'worktree add',
    shown: async () => (await service.call.ok('GET', '/api/admission/queue')).depth.global.current >= runs / 4,
  },
  { name: 'compiling', git: 'update-ref --no-deref refs/board/baselines/' },
  { name: 'dispatching', shown: () => Promise.resolve(startsNow().length > 0) },
  {
    name: 'running',
    agent: 'witnessed-worker',
    shown: () => someStatus(({ state, lastSequence }) => state === 'running' && lastSequence >= 3),
  },
  {
    name: 'waiting for approval',
    agent: 'witnessed-asker',
    shown: async () => (await pendingApprovals()).length >= runs / 4,
  },
  { name: 'completing', git: 'diff-tree' },
  { name: 'releasing', shown: () => someStatus(({ attempt }) => attempt?.completion !== undefined) },
  {
    name: 'recovering',
    agent: 'witnessed-second',
    shown: async () => {
      const all = launched.map(({ taskId }) => service.call.ok('GET', `/api/agents/${taskId}/recovery`));
      return (await Promise.all(all)).some((recovery) => recovery?.state === 'scheduled');
    },
  },
];

describe('runs after a crash at each stage', () => {
  beforeAll(async () => {
    files = await makeTempDir('stages');
    witness = join(files.path, 'witness');
    writeFileSync(witness, '');
    breakpoints = await gitBreakpoints(files.path);
    service = await startService({ WITNESS: witness, PATH: breakpoints.path, BOARD_RUN_RETRIES: '3' });
    await service.call.addRepository('sample', await aRepository(files.path));
    const witnessed = (type: string, steps = '5') => {
      return { ...scriptAgent(type, steps, '100'), environmentKeys: ['WITNESS'] };
    };
    await service.call.configureAgents([
      witnessed('witnessed-bee'),
      witnessed('witnessed-asker'),
      witnessed('witnessed-second'),
      { ...witnessed('witnessed-bee', '15'), type: 'witnessed-worker' },
    ]);
    await limitRuns(50);
  });

  afterEach(() => breakpoints.clear());

  afterAll(async () => {
    await service.close();
    await files.remove();
  });

  /** Resolves when every process must have read the new limit. */
  async function limitRuns(limit: number): Promise<void> {
    await persistently(() =>
      service.call.ok('PATCH', '/api/settings/features', { admission: { limits: { global: { runs: limit } } } }),
    );
    await settingsInUse();
  }

  /** Kills an agent of the latest started attempts, if one still runs. */
  async function killAnAgent(): Promise<void> {
    for (const [, attemptId] of startsNow().slice(-5)) {
      const [agent] = await findByEnvironment('BOARD_ATTEMPT_ID', attemptId ?? '');
      if (agent && kill(agent.pid)) {
        return;
      }
    }
  }

  /** Allows every request, until there are no more. */
  async function allowAll(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await persistently(async () => {
        for (const { id, revision, actionHash } of await pendingApprovals()) {
          // The requesting run may have ended meanwhile: 409.
          const decision = { decision: 'approved', expectedRevision: revision, expectedActionHash: actionHash };
          await service.call.post(`/api/run-approvals/${id}/decision`, decision);
        }
      });
      await delay(200);
    }
  }

  /** What followed a failure was written down before it was launched, and nothing holds capacity any more. */
  async function expectRecordedAndReleased(): Promise<void> {
    for (const { taskId } of launched) {
      const { attempt } = await service.call.status(taskId);
      const recovery = await service.call.ok('GET', `/api/agents/${taskId}/recovery`);
      if (attempt.retryNumber === 0) {
        expect(recovery).toBeNull();
      } else {
        expect(recovery).toMatchObject({
          attemptId: attempt.parentAttemptId,
          nextAttemptId: attempt.id,
          state: 'launched',
        });
      }
    }
    expect((await service.call.ok('GET', '/api/admission?state=active')).reservations).toEqual([]);
    const applied = lines('applied').map(([, attemptId]) => attemptId);
    expect(new Set(applied).size).toBe(applied.length);
  }

  test.each(stages)(
    'worker, api, Temporal and an agent killed while $name: every run ends once',
    async ({ name, git, shown, agent = 'witnessed-bee', limit }) => {
      launched = [];
      startedBefore = lines('start').length;
      if (limit !== undefined) {
        await limitRuns(limit);
      }
      if (git !== undefined) {
        await breakpoints.set('stage', 'before', `*${git}*`);
      }
      const launching = launchAll(service, runs, launched, { agent }, name.replaceAll(' ', '-'));
      if (git !== undefined) {
        await breakpoints.reached('stage');
      }
      if (shown) {
        await eventually(async () => expect(await shown()).toBe(true), { everyMs: 20 });
      }
      const { worker, api, temporal } = service.pids();
      await killAnAgent();
      for (const pid of [worker, api, temporal]) {
        process.kill(pid!, 'SIGKILL');
      }
      await breakpoints.clear();
      await launching;
      if (limit !== undefined) {
        await limitRuns(50);
      }
      const ended = new AbortController();
      const allowing = agent === 'witnessed-asker' ? allowAll(ended.signal) : Promise.resolve();
      try {
        await allEnded(service, launched);
      } finally {
        ended.abort();
        await allowing;
      }
      expect(launched).toHaveLength(runs);
      await expectNothingLostOrDoubled(service, witness, launched);
      await expectRecordedAndReleased();
    },
  );
});

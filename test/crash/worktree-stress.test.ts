import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { createLog } from '../../platform/log/log';
import { nodePart } from '../../platform/processes/parts/node-part';
import { supervise, type Supervision } from '../../platform/processes/parts/supervisor';
import { eventually } from '../../platform/testing/eventually';
import { makeTempDir, type TempDir } from '../../platform/testing/temp-dir';
import type { Answer } from '../support/caller';
import { aRemoteRepository, commitIn, type RemoteRepository } from '../support/git/remote-repository';
import { git } from '../support/git/repository';
import { partEnvironment, type Service, startService } from '../support/stack/service';

const tasks = 20;
const operations = 200;
const lanes = 5;
const killEveryMs = 5_000;
const seed = Number(process.env.STRESS_SEED ?? 20_260_101);

/** A small generator of numbers in [0, 1): the same seed gives the same operations (mulberry32). */
function random(from: number): () => number {
  let state = from;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

let service: Service;
let second: Supervision;
let files: TempDir;
const shops: RemoteRepository[] = [];
const taskIds: string[] = [];
/** Every commit that was ever made on a task's branch, with the repository it is in. */
const commits: { sha: string; shop: RemoteRepository }[] = [];

describe('worktree operations under crashes', () => {
  beforeAll(async () => {
    files = await makeTempDir('stress');
    service = await startService();
    second = await supervise(
      [
        nodePart({
          name: 'second-worker',
          script: join(__dirname, '..', '..', 'dist', 'worker', 'main.js'),
          environment: () => partEnvironment(service),
          output: { file: join(service.dataDir, 'logs', 'second-worker.log') },
        }),
      ],
      { log: createLog({ name: 'stress', level: 'silent' }), graceMs: 20_000 },
    );
    for (const name of ['north', 'south']) {
      const shop = await aRemoteRepository(files.path, name);
      shops.push(shop);
      await service.call.ok('POST', '/api/config/repos', { name, path: shop.path, remote: 'origin' });
    }
    for (let index = 0; index < tasks; index += 1) {
      const task = await service.call.createTask({ title: 'Stress', git: { repo: index % 2 ? 'south' : 'north' } });
      taskIds.push(task.id);
    }
  });

  afterAll(async () => {
    await second.stop();
    await service.close();
    await files.remove();
  });

  const url = (taskId: string, rest = '') => `/api/tasks/${taskId}/worktree${rest}`;
  const shopOf = (index: number) => shops[index % 2]!;

  /** One random operation on one task. Refusals are responses; losing something is not. */
  async function operate(index: number, dice: () => number): Promise<Answer | undefined> {
    const { call } = service;
    const taskId = taskIds[index]!;
    const what = dice();
    if (what < 0.3) {
      return call.post(url(taskId));
    }
    if (what < 0.55) {
      return work(index, dice);
    }
    if (what < 0.7) {
      return call.post(url(taskId, '/rebase'));
    }
    if (what < 0.85) {
      return call.post(url(taskId, '/merge'));
    }
    if (what < 0.92) {
      return call.send('DELETE', url(taskId));
    }
    return call.send('DELETE', url(taskId, '?force=true&reason=stress'));
  }

  /** Commits in a worktree at rest, and sometimes leaves files that are not committed. */
  async function work(index: number, dice: () => number): Promise<undefined> {
    const answer = await service.call.get(url(taskIds[index]!));
    if (answer.status !== 200 || answer.body.state !== 'ready') {
      return undefined;
    }
    // Some files are shared by all tasks, so that there are conflicts.
    const file = dice() < 0.3 ? 'shared.txt' : `file-${Math.floor(dice() * 1e9)}.txt`;
    const sha = await commitIn(answer.body.path, file, `${dice()}\n`);
    commits.push({ sha, shop: shopOf(index) });
    if (dice() < 0.2) {
      await writeFile(join(answer.body.path, `left-${Math.floor(dice() * 1e9)}.txt`), 'left\n');
    }
    return undefined;
  }

  /** What the api could not explain: its log has the reason that a response does not show. */
  const errorsLogged = (): string[] =>
    readFileSync(join(service.dir, 'data', 'logs', 'api.log'), 'utf8')
      .split('\n')
      .filter((line) => line.includes('"level":"error"'));

  /** One that was killed before, and is not started again yet, stays dead. */
  function kill(pid: number): void {
    try {
      process.kill(pid, 'SIGKILL');
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ESRCH') {
        throw error;
      }
    }
  }

  /** Kills one of the two workers every few seconds until it is aborted; returns how many died. */
  async function killWorkers(dice: () => number, signal: AbortSignal): Promise<number> {
    for (let killed = 0; ; killed += 1) {
      await delay(killEveryMs, undefined, { signal }).catch(() => undefined);
      if (signal.aborted) {
        return killed;
      }
      const pid = dice() < 0.5 ? service.pids().worker : second.pids()['second-worker'];
      if (pid !== undefined) {
        kill(pid);
      }
    }
  }

  test(`${operations} random operations on ${tasks} tasks lose nothing while workers are killed (seed ${seed})`, async () => {
    const ending = new AbortController();
    const killing = killWorkers(random(seed + 1000), ending.signal);
    const statuses: number[] = [];
    // Each lane has tasks of its own: what others commit in a worktree is not what is tested here.
    const lane = async (number: number) => {
      const dice = random(seed + number);
      for (let done = 0; done < operations / lanes; done += 1) {
        const answer = await operate(number + lanes * Math.floor(dice() * (tasks / lanes)), dice);
        if (answer) {
          statuses.push(answer.status);
        }
      }
    };
    await Promise.all(Array.from({ length: lanes }, (_, number) => lane(number)));
    ending.abort();
    expect(await killing).toBeGreaterThan(2);
    const unexpected = statuses.filter((status) => ![200, 201, 404, 409, 503].includes(status));
    expect({ unexpected, logged: unexpected.length > 0 ? errorsLogged() : [] }).toEqual({ unexpected: [], logged: [] });
    expect(statuses.filter((status) => status < 300).length).toBeGreaterThan(20);

    const ready = await Promise.all(taskIds.map((taskId) => atRest(taskId)));
    for (const [number, shop] of shops.entries()) {
      const listed = (await git(shop.path, 'worktree', 'list', '--porcelain'))
        .split('\n')
        .filter((line) => line.startsWith('worktree '))
        .map((line) => line.slice('worktree '.length));
      const manifests = ready.filter((path, index) => path !== undefined && index % 2 === number);
      expect(listed.filter((path) => path !== shop.path).sort()).toEqual(manifests.sort());
      await git(shop.path, 'fsck', '--strict');
    }
    const unreachable: string[] = [];
    for (const { sha, shop } of commits) {
      if ((await git(shop.path, 'for-each-ref', '--count=1', '--contains', sha)) === '') {
        unreachable.push(sha);
      }
    }
    expect(commits.length).toBeGreaterThan(5);
    expect(unreachable).toEqual([]);
  });

  /** The path of a task's worktree once nothing runs on it; `undefined` when there is none. */
  function atRest(taskId: string): Promise<string | undefined> {
    return eventually(
      async () => {
        const { status, body } = await service.call.get(url(taskId));
        if (status === 404) {
          return undefined;
        }
        if (status !== 200 || !['ready', 'removed', 'failed'].includes(body.state)) {
          throw new Error(
            `${taskId}: ${status} ${JSON.stringify({ state: body.state, recoverable: body.recoverable })}`,
          );
        }
        return body.state === 'ready' ? (body.path as string) : undefined;
      },
      { everyMs: 250 },
    );
  }
});

import { join } from 'node:path';
import { requestDueRefreshes } from '../../activities/issue-sync/due-pull-requests';
import { createLog } from '../../platform/log/log';
import { makeTempDir, type TempDir } from '../../platform/testing/temp-dir';
import {
  createPullRequestStore,
  type PullRequestOperation,
  type PullRequestStore,
} from '../../stores/integrations/pull-request-store';
import type { Database } from '../../stores/port/collection';
import { openSqlite } from '../../stores/sqlite/database';

const repo = 'shop';
const pull = { title: 'x', state: 'open', draft: false, headBranch: 'x', baseBranch: 'main' } as const;

describe('the refreshes that are due', () => {
  let files: TempDir;
  let database: Database;
  let store: PullRequestStore;
  let clockMs: number;
  const now = () => new Date(clockMs);
  const at = () => now().toISOString();

  beforeEach(async () => {
    clockMs = Date.UTC(2026, 0, 1);
    files = await makeTempDir('due-pull-requests');
    const log = createLog({ name: 'test', level: 'silent' });
    database = await openSqlite({ file: join(files.path, 'store.sqlite'), log });
    store = await createPullRequestStore(database, now);
  });
  afterEach(async () => {
    await database.close();
    await files.remove();
  });

  const operation = (kind: PullRequestOperation['kind'], actor: string): PullRequestOperation => ({
    ...{ id: `pr_${actor}`, kind, actor, at: at(), begun: false },
  });

  async function aPull(taskId: string, number: number, state: 'open' | 'closed' = 'open'): Promise<void> {
    await store.request(taskId, operation('publish', 'user:ada'));
    const read = await store.get(taskId);
    const stored = { ...pull, number, state, headSha: String(number), url: '', mergeable: null, updatedAt: at() };
    await store.change(read!, { repo, pull: stored, operation: null });
  }

  /** A round, whose refreshes begin and end. */
  async function round(pollIntervalMs = 10_000): Promise<string[]> {
    const { due } = await requestDueRefreshes({ pullRequests: store, now }, { repo, pollIntervalMs });
    for (const { taskId } of due) {
      const read = await store.get(taskId);
      await store.change(read!, { operation: null, polledAt: at(), staleAt: null });
    }
    return due.map(({ taskId }) => taskId);
  }

  const announce = (number: number) => store.announce(repo, { numbers: [number], commits: [] });

  it('are of open pull requests, each again after five minutes or the interval', async () => {
    await aPull('task_1', 1);
    await aPull('task_2', 2, 'closed');
    expect(await round()).toEqual(['task_1']);
    clockMs += 299_999;
    expect(await round()).toEqual([]);
    clockMs += 1;
    expect(await round(600_000)).toEqual([]);
    expect(await round()).toEqual(['task_1']);
  });

  it('are those that the forge has announced at once, and no closer than five seconds', async () => {
    await aPull('task_1', 1);
    await round();
    clockMs += 1_000;
    expect(await announce(1)).toBe(true);
    expect(await announce(3)).toBe(false);
    expect(await store.announce(repo, { numbers: [], commits: ['1'] })).toBe(true);
    const early = await requestDueRefreshes({ pullRequests: store, now }, { repo, pollIntervalMs: 10_000 });
    expect(early).toEqual({ due: [], isMore: true });
    clockMs += 4_000;
    expect(await round()).toEqual(['task_1']);
    expect(await requestDueRefreshes({ pullRequests: store, now }, { repo, pollIntervalMs: 10_000 })).toEqual({
      due: [],
      isMore: false,
    });
  });

  it('are fifty in five minutes, announced ones first and then those that waited longest', async () => {
    for (let number = 1; number <= 60; number += 1) {
      await aPull(`task_${number}`, number);
    }
    await announce(60);
    const first = await round();
    expect(first).toHaveLength(50);
    expect(first[0]).toBe('task_60');
    expect(await round()).toEqual([]);
    clockMs += 300_001;
    const second = await round();
    expect(second).toHaveLength(50);
    expect(new Set([...first, ...second]).size).toBe(60);
  });

  it('leave the operation of a person alone, and come after it', async () => {
    await aPull('task_1', 1);
    await announce(1);
    const publish = await store.request('task_1', operation('publish', 'user:ada'));
    const read = await store.get('task_1');
    await store.change(read!, { operation: { ...publish, begun: true } });
    const meanwhile = await requestDueRefreshes({ pullRequests: store, now }, { repo, pollIntervalMs: 10_000 });
    expect(meanwhile).toEqual({ due: [], isMore: true });
    const begun = await store.get('task_1');
    await store.change(begun!, { operation: null });
    expect(await round()).toEqual(['task_1']);
  });

  it('replace no operation of another caller that is about to begin, and wait no longer for one that was lost', async () => {
    await aPull('task_1', 1);
    await announce(1);
    const publish = await store.request('task_1', operation('publish', 'user:ada'));
    const settings = { repo, pollIntervalMs: 10_000 };
    const early = await requestDueRefreshes({ pullRequests: store, now }, settings);
    expect(early).toEqual({ due: [], isMore: true });
    const read = await store.get('task_1');
    expect(read?.operation).toEqual(publish);
    await store.change(read!, { operation: { ...publish, begun: true } });
    clockMs += 900_000;
    expect(await requestDueRefreshes({ pullRequests: store, now }, settings)).toEqual({ due: [], isMore: false });
    const begun = await store.get('task_1');
    await store.change(begun!, { operation: publish });
    expect(await round()).toEqual(['task_1']);
  });

  it('come with the next poll when fifty were read', async () => {
    for (let number = 1; number <= 51; number += 1) {
      await aPull(`task_${number}`, number);
    }
    await round();
    clockMs += 10_000;
    await announce(51);
    await announce(1);
    expect(await requestDueRefreshes({ pullRequests: store, now }, { repo, pollIntervalMs: 10_000 })).toEqual({
      due: [],
      isMore: false,
    });
  });

  it('are the same ones for a step that is tried again', async () => {
    await aPull('task_1', 1);
    const settings = { repo, pollIntervalMs: 10_000 };
    const first = await requestDueRefreshes({ pullRequests: store, now }, settings);
    expect(await requestDueRefreshes({ pullRequests: store, now }, settings)).toEqual(first);
  });
});

import { join } from 'node:path';
import { createLog } from '../../platform/log/log';
import { makeTempDir, type TempDir } from '../../platform/testing/temp-dir';
import { createTaskLocks } from '../../stores/board-files/task-locks';
import { type Answer, scriptAgent } from '../support/caller';
import { type GitBreakpoints, gitBreakpoints } from '../support/git/git-breakpoints';
import { aRemoteRepository, type RemoteRepository } from '../support/git/remote-repository';
import { git } from '../support/git/repository';
import { persistently } from '../support/processes/persistently';
import { killPart, type Service, startService } from '../support/stack/service';

const points = ['before the push', 'after the push', 'between the merge and the completion of the task'] as const;

/** The acceptance of one result, in a repository of its own. */
interface Case {
  point: (typeof points)[number];
  shop: RemoteRepository;
  taskId: string;
  attemptId: string;
}

describe('kill -9 of the worker while a result is accepted', () => {
  let service: Service;
  let files: TempDir;
  let breakpoints: GitBreakpoints;
  let cases: Case[];
  /** What others get for the last one while it is merged. */
  let meanwhile: Answer[];

  beforeAll(async () => {
    files = await makeTempDir('crash-reviews');
    breakpoints = await gitBreakpoints(files.path);
    service = await startService({ PATH: breakpoints.path });
    await service.call.configureAgents([scriptAgent('as-told')]);
    cases = await Promise.all(points.map(aResult));
    for (const [index, { point }] of cases.entries()) {
      const when = point === 'before the push' ? 'before' : 'after';
      await breakpoints.set(`point-${index}`, when, `*shop-${index}* push *`);
    }
    const accepting = cases.map(accept);
    await Promise.all(cases.map((_, index) => breakpoints.reached(`point-${index}`)));
    const { taskId, attemptId } = cases.at(-1)!;
    meanwhile = await Promise.all([
      service.call.post(`/api/agents/${taskId}/start`, { agent: 'as-told' }),
      service.call.post(`/api/tasks/${taskId}/review/send-back`, { attemptId, message: 'No.' }),
      service.call.post(`/api/tasks/${taskId}/archive`),
      service.call.send('PATCH', `/api/tasks/${taskId}`, { status: 'done' }),
    ]);
    const locks = createTaskLocks(join(service.dataDir, 'tasks'), createLog({ name: 'test', level: 'silent' }));
    await locks.exclusive(taskId, async () => {
      killPart(service, 'worker');
      await breakpoints.clear();
      // The next worker finishes the merge, and waits for the task.
      await persistently(async () => {
        const { history } = await service.call.ok('GET', `/api/tasks/${taskId}/worktree`);
        expect(history).toContainEqual(expect.objectContaining({ kind: 'merge', result: 'done' }));
      });
      killPart(service, 'worker');
    });
    await Promise.all(accepting);
  });

  afterAll(async () => {
    await breakpoints.clear();
    await service.close();
    await files.remove();
  });

  async function aResult(point: Case['point'], index: number): Promise<Case> {
    const { call } = service;
    const repo = `shop-${index}`;
    const shop = await aRemoteRepository(files.path, repo);
    await call.ok('POST', '/api/config/repos', { name: repo, path: shop.path, remote: 'origin' });
    const { id: taskId } = await call.createTask({
      title: 'Told',
      description: JSON.stringify({ files: { 'new.txt': 'new\n' }, result: { status: 'success', summary: 'Done.' } }),
      git: { repo },
      executionPolicy: { review: 'required' },
    });
    await call.start(taskId, { agent: 'as-told' });
    const { attemptId } = await call.ended(taskId);
    return { point, shop, taskId, attemptId };
  }

  /** Accepts as a caller without a response does: again under the same key. */
  const accept = ({ taskId, attemptId }: Case): Promise<Answer['body']> =>
    persistently(() =>
      service.call.ok('POST', `/api/tasks/${taskId}/review/accept`, { attemptId }, { 'Idempotency-Key': taskId }),
    );

  test('launches and other decisions are refused until it is decided', () => {
    const codes = meanwhile.map(({ status, body }) => `${status} ${body.code}`);
    expect(codes).toEqual([...Array.from({ length: 3 }, () => '409 REVIEW_ACCEPTING'), '409 REVIEW_OPEN']);
  });

  test.each(points)('%s merges it once and completes the task once', async (point) => {
    const { taskId, attemptId, shop } = cases.find((one) => one.point === point)!;
    const { review, decisions } = await service.call.ok('GET', `/api/tasks/${taskId}/review`);
    expect(review).toMatchObject({ state: 'accepted', attemptId });
    const mergedSha = await git(shop.remote, 'rev-parse', 'main');
    expect(decisions).toMatchObject([{ outcome: 'accepted', attemptId, mergedSha }]);
    expect(await service.call.ok('GET', `/api/tasks/${taskId}`)).toMatchObject({ status: 'done' });
    expect((await git(shop.remote, 'log', '--merges', '--format=%H', 'main')).split('\n')).toEqual([mergedSha]);
    expect(await git(shop.remote, 'show', 'main:new.txt')).toBe('new');
    const { entries } = await service.call.ok('GET', `/api/audit?resource=${taskId}&action=review.accepted`);
    expect(entries).toHaveLength(1);
  });
});

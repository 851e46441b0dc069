import { existsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { eventually } from '../../platform/testing/eventually';
import { makeTempDir, type TempDir } from '../../platform/testing/temp-dir';
import { type GitBreakpoints, gitBreakpoints } from '../support/git/git-breakpoints';
import { aRemoteRepository, commitIn, type RemoteRepository } from '../support/git/remote-repository';
import { git } from '../support/git/repository';
import { type Service, startService } from '../support/stack/service';

/** Where an operation is killed: the git command it stands at, in the repository or the worktree of its task. */
interface Point {
  operation: 'create' | 'rebase' | 'continue' | 'merge' | 'cleanup';
  when: 'before' | 'after';
  what: string;
  in: 'repository' | 'task';
  command: string;
}

const points: Point[] = [
  { operation: 'create', when: 'before', what: 'git', in: 'repository', command: 'worktree add' },
  { operation: 'create', when: 'after', what: 'git', in: 'repository', command: 'worktree unlock' },
  { operation: 'rebase', when: 'before', what: 'git', in: 'task', command: 'rebase --quiet' },
  { operation: 'rebase', when: 'after', what: 'git', in: 'task', command: 'rebase --quiet' },
  { operation: 'continue', when: 'before', what: 'the resolved commit', in: 'task', command: 'commit-tree' },
  {
    operation: 'continue',
    when: 'after',
    what: 'the resolved commit',
    in: 'task',
    command: 'update-ref --no-deref refs/board/continued',
  },
  { operation: 'continue', when: 'before', what: 'git', in: 'task', command: 'rebase --quiet*--interactive' },
  { operation: 'continue', when: 'after', what: 'git', in: 'task', command: 'rebase --quiet*--interactive' },
  { operation: 'merge', when: 'before', what: 'the merge', in: 'repository', command: 'worktree add' },
  { operation: 'merge', when: 'after', what: 'merging trees', in: 'task', command: 'merge-tree' },
  { operation: 'merge', when: 'after', what: 'the merge', in: 'task', command: 'update-ref --no-deref HEAD' },
  { operation: 'merge', when: 'before', what: 'the push', in: 'repository', command: ' push ' },
  { operation: 'merge', when: 'after', what: 'the push', in: 'repository', command: ' push ' },
  {
    operation: 'merge',
    when: 'before',
    what: 'putting away',
    in: 'repository',
    command: 'update-ref --no-deref -d refs/board/integrations',
  },
  { operation: 'cleanup', when: 'before', what: 'git', in: 'repository', command: 'worktree lock' },
  {
    operation: 'cleanup',
    when: 'after',
    what: 'git',
    in: 'repository',
    command: 'update-ref --no-deref -d refs/heads/',
  },
];

/** No name is the beginning of another one: they are looked for in the arguments of git. */
const shopName = (index: number) => `shop-${String(index).padStart(2, '0')}`;

/** One operation of the table, on a task and a repository of its own. */
interface Case {
  point: Point;
  taskId: string;
  shop: RemoteRepository;
  path: string;
  branch: string;
  work: string;
  base: string;
}

describe.each(['the worker', "the worker, and Temporal's database is lost"])('kill -9 of %s', (kind) => {
  let service: Service;
  let files: TempDir;
  let breakpoints: GitBreakpoints;
  const cases = new Map<Point, Case>();
  const url = (taskId: string, rest = '') => `/api/tasks/${taskId}/worktree${rest}`;

  beforeAll(async () => {
    files = await makeTempDir('crash-worktree');
    breakpoints = await gitBreakpoints(files.path);
    service = await startService({ PATH: breakpoints.path });
    await Promise.all(points.map(async (point, index) => cases.set(point, await aCase(point, index))));
    await Promise.all(
      points.map(async (point, index) => {
        const { taskId } = cases.get(point)!;
        const where = point.in === 'task' ? taskId : shopName(index);
        await breakpoints.set(`point-${index}`, point.when, `*${where}*${point.command}*`);
      }),
    );
    // Every operation stands at its point when everything is killed at once.
    const asked = points.map((point) => ask(cases.get(point)!).catch(() => undefined));
    await Promise.all(points.map((_, index) => breakpoints.reached(`point-${index}`)));
    process.kill(service.pids().worker!, 'SIGKILL');
    await breakpoints.clear();
    if (kind !== 'the worker') {
      service = await service.restart((dataDir) => rm(join(dataDir, 'temporal'), { recursive: true }));
    }
    await Promise.all(asked);
  });

  afterAll(async () => {
    await breakpoints.clear();
    await service.close();
    await files.remove();
  });

  async function aCase(point: Point, index: number): Promise<Case> {
    const { call } = service;
    const shop = await aRemoteRepository(files.path, shopName(index));
    await call.ok('POST', '/api/config/repos', { name: shopName(index), path: shop.path, remote: 'origin' });
    const { id: taskId } = await call.createTask({ title: 'Crash', git: { repo: shopName(index) } });
    if (point.operation === 'create') {
      const base = await git(shop.remote, 'rev-parse', 'main');
      return {
        point,
        taskId,
        shop,
        path: join(service.dataDir, 'worktrees', taskId),
        branch: `board/${taskId}`,
        work: base,
        base,
      };
    }
    const { path, branch } = await call.ok('POST', url(taskId), {});
    if (point.operation === 'continue') {
      await commitIn(path, 'README.md', 'work\n');
      const work = await commitIn(path, 'work.txt');
      const base = await shop.othersPush('README.md');
      await call.ok('POST', url(taskId, '/rebase'), { onConflict: 'keep' });
      const resolution = { resolution: 'manual', manualContent: 'resolved\n' };
      await call.ok('POST', `/api/conflicts/${taskId}/resolve?path=README.md`, resolution);
      return { point, taskId, shop, path, branch, work, base };
    }
    const clean = point.operation === 'cleanup';
    const work = clean ? await git(path, 'rev-parse', 'HEAD') : await commitIn(path, 'work.txt');
    const base = await shop.othersPush('other.txt');
    return { point, taskId, shop, path, branch, work, base };
  }

  function ask({ point, taskId }: Case) {
    const { call } = service;
    if (point.operation === 'create') {
      return call.post(url(taskId));
    }
    if (point.operation === 'cleanup') {
      return call.send('DELETE', url(taskId));
    }
    if (point.operation === 'continue') {
      return call.post(`/api/conflicts/${taskId}/continue`, { message: 'Resolved' });
    }
    return call.post(url(taskId, `/${point.operation}`));
  }

  /** The state of the repository after the operation, however it was interrupted. */
  async function expectDone({ point, shop, path, branch, work, base }: Case): Promise<void> {
    const head = (ref: string) => git(shop.path, 'rev-parse', ref);
    switch (point.operation) {
      case 'create':
        expect(await git(path, 'rev-parse', 'HEAD')).toBe(base);
        expect(await git(path, 'status', '--porcelain')).toBe('');
        break;
      case 'rebase':
        expect(await git(path, 'rev-parse', 'HEAD^')).toBe(base);
        expect(await git(path, 'status', '--porcelain=v2', '--branch')).toContain(`# branch.head ${branch}`);
        break;
      case 'continue':
        expect(await git(path, 'log', '--format=%s', `${base}..${branch}`)).toBe('Work: work.txt\nResolved');
        expect(await git(path, 'show', 'HEAD:README.md')).toBe('resolved');
        expect(await git(path, 'status', '--porcelain=v2', '--branch')).toMatch(
          /^# branch\.oid .*\n# branch\.head .*$/,
        );
        break;
      case 'merge':
        expect(await git(shop.remote, 'log', '--merges', '--format=%P', 'main')).toBe(`${base} ${work}`);
        expect(await head(branch)).toBe(work);
        break;
      case 'cleanup':
        expect(existsSync(path)).toBe(false);
        expect(await git(shop.path, 'branch', '--list', branch)).toBe('');
    }
    expect(await git(shop.path, 'worktree', 'list', '--porcelain')).not.toMatch(/locked|prunable|integrations/);
    await git(shop.path, 'fsck', '--strict');
  }

  test.each(points.map((point) => [`${point.operation} ${point.when} ${point.what}`, point] as const))(
    '%s is brought to its end',
    async (_, point) => {
      const at = cases.get(point)!;
      const rest = await eventually(
        async () => {
          const status = await service.call.ok('GET', url(at.taskId));
          if (!['ready', 'removed'].includes(status.state)) {
            throw new Error(`it is ${status.state}`);
          }
          return status;
        },
        { everyMs: 200 },
      );
      expect(rest).toMatchObject({ operation: null, recoverable: null });
      await expectDone(at);
    },
  );
});

import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { eventually } from '../../platform/testing/eventually';
import { makeTempDir, type TempDir } from '../../platform/testing/temp-dir';
import { type Answer, scriptAgent } from '../support/caller';
import { type GitBreakpoints, gitBreakpoints } from '../support/git/git-breakpoints';
import { aRepository, git } from '../support/git/repository';
import { persistently } from '../support/processes/persistently';
import { killPart, type Service, startService } from '../support/stack/service';

/** Who leaves work uncommitted; `caller` is one that has it committed, without a run. */
const authors = ['retried agent', 'reattached agent', 'remote agent', 'caller'] as const;

/** The git commands of a commit of uncommitted work that the worker is killed at, in their order. */
const points = [
  { when: 'before', what: 'its reference', command: 'update-ref --no-deref refs/board/results/' },
  { when: 'after', what: 'its reference', command: 'update-ref --no-deref refs/board/results/' },
  { when: 'after', what: 'the branch', command: 'update-ref --no-deref refs/heads/' },
  { when: 'after', what: 'the index', command: 'update-index -q --refresh' },
] as const;

/** One commit, in the worktree of a task of its own. */
interface Case {
  author: (typeof authors)[number];
  point: (typeof points)[number];
  taskId: string;
  path: string;
  branch: string;
  base: string;
  /** The run, of all but callers. */
  attemptId?: string;
}

const nameOf = ({ author, point }: Pick<Case, 'author' | 'point'>) => `${author}: ${point.when} ${point.what}`;
const named = authors.flatMap((author) => points.map((point) => ({ name: nameOf({ author, point }), author, point })));

describe('kill -9 of the worker that commits uncommitted work', () => {
  let service: Service;
  let files: TempDir;
  let breakpoints: GitBreakpoints;
  let cases: Map<string, Case>;

  beforeAll(async () => {
    files = await makeTempDir('crash-results');
    breakpoints = await gitBreakpoints(files.path);
    service = await startService({ PATH: breakpoints.path });
    await service.call.addRepository('shop', await aRepository(files.path, 'shop'));
    await service.call.configureAgents([
      { ...scriptAgent('as-told'), type: 'retried' },
      { ...scriptAgent('as-told'), type: 'reattached', reattach: true },
      { type: 'remote', name: 'Remote', provider: 'remote-callback' },
    ]);
    cases = new Map(await Promise.all(named.map(async (one) => [one.name, await aCase(one)] as const)));
    await Promise.all(
      [...cases.values()].map(async (one) => breakpoints.set(one.taskId, one.point.when, patternOf(one))),
    );
    // Every commit stands at its point when the worker is killed.
    const asked = [...cases.values()].map(begin);
    await Promise.all([...cases.values()].map(({ taskId }) => breakpoints.reached(taskId)));
    killPart(service, 'worker');
    await breakpoints.clear();
    await Promise.all(asked);
  });

  afterAll(async () => {
    await breakpoints.clear();
    await service.close();
    await files.remove();
  });

  const patternOf = ({ taskId, point }: Case) => `*${taskId}*${point.command}*`;

  async function aCase({ author, point }: Pick<Case, 'author' | 'point'>): Promise<Case> {
    const { call } = service;
    const reported = { files: { 'work.txt': 'work\n' }, result: { status: 'success', summary: 'Done.' } };
    const { id: taskId } = await call.createTask({
      title: 'Uncommitted',
      description: JSON.stringify(reported),
      git: { repo: 'shop' },
    });
    const { path, branch } = await call.ok('POST', `/api/tasks/${taskId}/worktree`, {});
    return { author, point, taskId, path, branch, base: await git(path, 'rev-parse', 'HEAD') };
  }

  /** Has the work committed, as callers do that repeat what has no response. */
  async function begin(one: Case): Promise<void> {
    const { author, taskId, path } = one;
    if (author !== 'caller') {
      one.attemptId = (await service.call.start(taskId, { agent: author.split(' ')[0] })).attemptId;
    }
    if (author === 'remote agent' || author === 'caller') {
      await writeFile(join(path, 'work.txt'), 'work\n');
      await persistently(() => request(one));
    }
  }

  function request({ author, taskId, attemptId }: Case): Promise<Answer['body']> {
    return author === 'caller'
      ? service.call.ok(
          'POST',
          `/api/tasks/${taskId}/worktree/commit`,
          { message: 'Work' },
          { 'Idempotency-Key': taskId },
        )
      : service.call.ok('POST', `/api/agents/${taskId}/complete`, { attemptId, status: 'success', summary: 'Done.' });
  }

  /** The branch has the work in one commit, and nothing is left uncommitted. */
  async function expectOneCommit({ path, branch, base }: Case): Promise<string> {
    const commits = await git(path, 'log', '--format=%H', `${base}..${branch}`);
    expect(commits).toBe(await git(path, 'rev-parse', 'HEAD'));
    expect(await git(path, 'diff', '--name-status', base, branch)).toBe('A\twork.txt');
    expect(await git(path, 'show', 'HEAD:work.txt')).toBe('work');
    expect(await git(path, 'status', '--porcelain=v2', '--branch')).toBe(
      `# branch.oid ${commits}\n# branch.head ${branch}`,
    );
    await git(path, 'fsck', '--strict');
    return commits;
  }

  const refs = async ({ path }: Case, pattern: string) =>
    (await git(path, 'for-each-ref', '--format=%(refname)', pattern)).split('\n');

  test.each(named.filter(({ author }) => author !== 'caller'))('$name', async ({ name }) => {
    const one = cases.get(name)!;
    const { taskId, attemptId, path } = one;
    const task = await eventually(
      async () => {
        const found = await service.call.ok('GET', `/api/tasks/${taskId}`);
        expect(found).toMatchObject({ status: 'done', attempt: { result: 'success' } });
        return found;
      },
      { everyMs: 200 },
    );
    const sha = await expectOneCommit(one);
    const { attempts } = await service.call.ok('GET', `/api/agents/${taskId}/attempts`);
    const [last, ...earlier] = attempts;
    expect(last.id).toBe(task.attempt.id);
    expect(last.completion).toMatchObject({
      status: 'success',
      downgrades: [],
      harness: { headSha: sha, commits: [], committed: { sha, files: 1 } },
      changedFiles: [{ path: 'work.txt', verified: true }],
    });
    expect(await git(path, 'log', '-1', '--format=%(trailers:key=Board-Attempt,valueonly)')).toContain(last.id);
    expect(await git(path, 'rev-parse', `refs/board/results/${last.id}`)).toBe(sha);
    if (one.author === 'retried agent') {
      expect(earlier).toMatchObject([{ id: attemptId, completion: { status: 'interrupted' } }]);
      expect(await git(path, 'show', `refs/board/attempts/${attemptId}:work.txt`)).toBe('work');
    } else {
      expect([last.id, earlier]).toEqual([attemptId, []]);
      expect(await refs(one, `refs/board/attempts/${attemptId}`)).toEqual(['']);
    }
    for (const { id } of attempts) {
      const ends = (await service.call.events(taskId, id)).filter(({ kind }) =>
        ['run.completed', 'run.failed', 'run.interrupted'].includes(kind),
      );
      expect(ends).toHaveLength(1);
    }
  });

  test.each(named.filter(({ author }) => author === 'caller'))('$name', async ({ name }) => {
    const one = cases.get(name)!;
    const sha = await expectOneCommit(one);
    expect(await request(one)).toMatchObject({ state: 'ready', operation: null, recoverable: null });
    const again = await service.call.post(`/api/tasks/${one.taskId}/worktree/commit`, { message: 'Work' });
    expect(again.status).toBe(409);
    expect(await expectOneCommit(one)).toBe(sha);
    const { history } = await service.call.ok('GET', `/api/tasks/${one.taskId}/worktree`);
    expect(history.filter(({ kind, result }: Answer['body']) => kind === 'commit' && result === 'done')).toMatchObject([
      { headSha: sha },
    ]);
  });
});

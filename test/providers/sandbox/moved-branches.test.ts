import { existsSync } from 'node:fs';
import { readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { detectOutsideChanges } from '../../../activities/agent-run/completion/outside-changes';
import { createLog } from '../../../platform/log/log';
import { eventually } from '../../../platform/testing/eventually';
import type { AttemptRecord } from '../../../stores/runs/attempt-store';
import type { WorktreeRecord } from '../../../stores/runs/workspaces/worktree-store';
import { aPreset } from '../../support/factories/contract';
import { commit, sh } from '../git/git-fixture';
import { aSandbox } from './sandbox-fixture';

let box: Awaited<ReturnType<typeof aSandbox>>;
beforeEach(async () => {
  box = await aSandbox();
});
afterEach(() => box.remove());

/** What the end of the run has of the repository around its worktree, as its activity finds it. */
async function findings(branches: string[]) {
  const { git, worktree } = box;
  const manifests = ['board/task', ...branches].map((branch) => ({
    ...{ _id: branch, branch, history: [], base: {} },
    path: join(box.directory.path, 'worktrees', branch.slice('board/'.length)),
  }));
  const events: unknown[] = [];
  const deps = {
    git,
    worktrees: { ofRepository: async () => manifests as unknown as WorktreeRecord[] },
    events: { append: async (_source: unknown, appended: unknown[]) => void events.push(...appended) },
    integrationDir: join(box.directory.path, 'integrations'),
    log: createLog({ name: 'test', level: 'error' }),
  };
  const record = {
    ...{
      _id: 'attempt_12345678',
      taskId: 'board/task',
      attemptNumber: 1,
      createdAt: new Date().toISOString(),
      agentConfig: {},
    },
    sandbox: aPreset({}),
    surroundings: before,
    repository: { name: 'sample' },
    taskEnvelope: { workspace: { path: worktree } },
  } as unknown as AttemptRecord;
  const changes = await detectOutsideChanges(deps as never, record);
  return { changes, events };
}

let before: unknown;

describe('branches that are made beside the one of a sandbox', () => {
  it('can neither be moved nor removed from within it', async () => {
    const { repository, worktree, baseSha, directory } = box;
    before = await box.git.snapshotRepository({ worktreePath: worktree });
    const [started, made] = ['started', 'made'].map((name) => join(worktree, name)) as [string, string];
    const heads = join(repository, '.git', 'refs', 'heads', 'board');
    const names = ['moved', 'removed', 'logged', 'worked', 'packed'];
    const running = box.run(
      {},
      `git -c user.name=A -c user.email=a@x commit -q --allow-empty -m Own; git rev-parse HEAD; touch started
       while [ ! -e made ]; do sleep 0.05; done
       git rev-parse HEAD > ${heads}/moved; rm -f ${heads}/removed; ln -s ../main ${heads}/worked
       git -c core.logAllRefUpdates=false update-ref refs/heads/board/logged HEAD
       git -c core.logAllRefUpdates=false branch -f board/packed HEAD
       for area in lent/*/worked lent/x; do (echo x > ${repository}/.git/board/$area) 2>/dev/null && echo "wrote $area"; done
       rm -rf ${heads}/* ${repository}/.git/board/lent 2>/dev/null
       git -c core.logAllRefUpdates=false update-ref refs/heads/board/task $(git rev-parse ORIG 2>/dev/null || tail -1 ${repository}/.git/logs/refs/heads/board/task | cut -d' ' -f2)
       git rev-parse HEAD; rm started made`,
    );
    await eventually(() => expect(existsSync(started)).toBe(true));
    const make = async (branch: string): Promise<void> => {
      const path = join(directory.path, 'worktrees', branch);
      await box.git.ensureWorktree({ ...box.request, worktreePath: path, branch: `board/${branch}` });
    };
    await make('packed');
    await sh(repository, 'pack-refs', '--all', '--prune');
    for (const branch of ['moved', 'removed', 'logged', 'worked']) {
      await make(branch);
    }
    await commit(join(directory.path, 'worktrees', 'worked'), 'Work of another task');
    const worked = (await sh(repository, 'rev-parse', 'board/worked')).trim();
    await writeFile(made, '');
    const { out } = await running;
    const [own = ''] = out.split('\n');
    expect(out).toBe(`${own}\n${own}`);
    expect(own).not.toBe(baseSha);

    const refs = await sh(repository, 'for-each-ref', '--format=%(refname:short) %(objectname)', 'refs/heads/board');
    expect(
      Object.fromEntries(
        refs
          .trim()
          .split('\n')
          .map((line) => line.split(' ')),
      ),
    ).toEqual({
      ...Object.fromEntries(names.map((name) => [`board/${name}`, baseSha])),
      'board/worked': worked,
      'board/task': own,
    });
    expect(await findings(names.map((name) => `board/${name}`))).toEqual({ changes: [], events: [] });
    expect(await readdir(join(repository, '.git', 'board', 'lent'))).toEqual([]);
    expect((await readdir(heads)).filter((name) => name.endsWith('.lock'))).toEqual([]);
  });

  it('and moved without a log of it are findings where nothing confines the run', async () => {
    const { repository, baseSha, worktree, directory } = box;
    before = await box.git.snapshotRepository({ worktreePath: worktree });
    for (const branch of ['moved', 'removed']) {
      const path = join(directory.path, 'worktrees', branch);
      await box.git.ensureWorktree({ ...box.request, worktreePath: path, branch: `board/${branch}` });
    }
    await commit(worktree, 'Own');
    const moved = (await sh(worktree, 'rev-parse', 'HEAD')).trim();
    const heads = join(repository, '.git', 'refs', 'heads', 'board');
    await writeFile(join(heads, 'moved'), `${moved}\n`);
    await rm(join(heads, 'removed'));
    const { changes, events } = await findings(['board/moved', 'board/removed']);
    expect(changes).toEqual([
      { what: 'ref', target: 'refs/heads/board/moved', before: baseSha, after: moved },
      { what: 'ref', target: 'refs/heads/board/removed', before: baseSha, after: null },
    ]);
    expect(events).toMatchObject([{ kind: 'run.error', payload: { code: 'OUTSIDE_CHANGED', changes } }]);
  });

  it('and packed by an operator leave the agent able to commit', async () => {
    const { repository, worktree, baseSha } = box;
    const [started, packed] = ['started', 'packed'].map((name) => join(worktree, name)) as [string, string];
    const running = box.run(
      {},
      `touch started; while [ ! -e packed ]; do sleep 0.05; done
       git -c user.name=A -c user.email=a@x commit -q --allow-empty -m "After packing" && git log --format=%s -1`,
    );
    await eventually(() => expect(existsSync(started)).toBe(true));
    await sh(repository, 'branch', 'board/other');
    await sh(repository, 'pack-refs', '--all', '--prune');
    await writeFile(packed, '');
    expect((await running).out).toBe('After packing');
    expect((await sh(repository, 'rev-parse', 'board/task~')).trim()).toBe(baseSha);
    expect((await sh(repository, 'for-each-ref', '--format=%(refname)', 'refs/heads')).trim().split('\n')).toEqual(
      ['board/other', 'board/task', 'main'].map((name) => `refs/heads/${name}`),
    );
    expect(await sh(repository, 'fsck', '--full')).toBe('');
  });

  it('are no findings where nothing was moved', async () => {
    before = await box.git.snapshotRepository({ worktreePath: box.worktree });
    const path = join(box.directory.path, 'worktrees', 'later');
    await box.git.ensureWorktree({ ...box.request, worktreePath: path, branch: 'board/later' });
    await commit(path, 'Work of another task');
    await sh(box.repository, 'branch', 'board/gone');
    await sh(box.repository, 'branch', '-D', 'board/gone');
    expect(await findings(['board/later', 'board/gone', 'board/never'])).toEqual({ changes: [], events: [] });
  });
});

import { chmod, lstat, readdir, readFile, rename, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { openRunSandbox } from '../../../providers/sandbox/run-sandbox';
import { aPreset } from '../../support/factories/contract';
import { programOutput } from '../../support/processes/program-output';
import { commit, put, sh } from '../git/git-fixture';
import { aSandbox } from './sandbox-fixture';

let box: Awaited<ReturnType<typeof aSandbox>>;
beforeEach(async () => {
  box = await aSandbox();
});
afterEach(() => box.remove());

const denying = (...deniedPaths: string[]) => ({ filesystem: { deniedPaths } });

describe('files of a sandbox', () => {
  test('let the agent write in its worktree and nowhere else', async () => {
    const { out, outcome } = await box.run(
      {},
      `echo in > inside
       for path in /usr/outside /etc/outside /proc/1/root/usr/outside /var/outside; do
         (echo x > "$path") 2>/dev/null && echo "wrote $path"
       done
       echo x > /tmp/own && cat /tmp/own; (echo x > "$PWD/../../outside") 2>/dev/null; cat ${box.dataDir}/board.sqlite 2>/dev/null; ls -A /run /sys; cat "$BOARD_TASK_ENVELOPE" >/dev/null && echo given`,
    );
    expect(outcome).toMatchObject({
      ended: 'exit',
      exitCode: 0,
      sandbox: { mechanism: 'bubblewrap', network: 'shared' },
    });
    expect(out.split('\n')).toEqual(['x', '/run:', '', '/sys:', 'given']);
    expect(await readFile(join(box.worktree, 'inside'), 'utf8')).toBe('in\n');
    await expect(lstat('/usr/outside')).rejects.toThrow();
    expect(await readdir(join(box.directory.path))).not.toContain('outside');
  });

  test('that are denied cannot be read by any way to them', async () => {
    await put(box.worktree, { 'keys/private.txt': 'denied content', 'deep/in/secret.txt': 'denied content' });
    await symlink('keys/private.txt', join(box.worktree, 'shortcut'));
    const { out, err } = await box.run(
      denying('keys', 'deep/in/secret.txt', '/etc/hostname'),
      `for path in keys/private.txt shortcut deep/in/secret.txt /etc/hostname; do
         cat "$path" "/proc/self/root$PWD/$path" "/proc/1/root$PWD/$path" "/proc/self/cwd/$path" 2>/dev/null
       done
       ls keys 2>/dev/null
       ln deep/in/secret.txt hard 2>/dev/null && cat hard
       mv deep moved 2>/dev/null && cat moved/in/secret.txt
       mv deep/in moved 2>/dev/null && cat moved/secret.txt
       rm -rf keys deep/in/secret.txt 2>/dev/null
       chmod 777 keys deep/in/secret.txt 2>/dev/null && cat deep/in/secret.txt
       umount keys 2>/dev/null && cat keys/private.txt
       mkdir view && mount --bind . view 2>/dev/null && cat view/keys/private.txt
       unshare -Urm sh -c 'umount keys; cat keys/private.txt' 2>/dev/null
       echo end`,
    );
    expect({ out, err }).toMatchObject({ out: 'end' });
    expect(await readFile(join(box.worktree, 'keys/private.txt'), 'utf8')).toBe('denied content');
    expect(await readFile(join(box.worktree, 'deep/in/secret.txt'), 'utf8')).toBe('denied content');
  });

  test('that are denied and do not exist cannot be made, and leave nothing that git sees', async () => {
    const { out } = await box.run(
      denying('later/on'),
      `mkdir -p later/on/x 2>/dev/null || echo refused; (echo x > later/on) 2>/dev/null || echo refused; rm -rf later 2>/dev/null; mv later gone 2>/dev/null || echo refused; git status --porcelain`,
    );
    expect(out.split('\n')).toEqual(['refused', 'refused', 'refused']);
    expect(await readdir(join(box.worktree, 'later/on'))).toEqual([]);
    expect(await sh(box.worktree, 'status', '--porcelain')).toBe('');
  });

  test('are denied by a pattern wherever it matches, and by the place that a link leads to', async () => {
    await put(box.worktree, {
      'a/b/one.pem': 'denied',
      'two.pem': 'denied',
      'real/x.txt': 'denied',
      'open.txt': 'open',
    });
    await symlink('real', join(box.worktree, 'alias'));
    const { out } = await box.run(
      denying('**/*.pem', 'alias'),
      'cat a/b/one.pem two.pem real/x.txt open.txt 2>/dev/null',
    );
    expect(out).toBe('open');
  });

  test('cannot be those of the worktree itself: nothing is started', async () => {
    const { outcome } = await box.run(denying('.'), 'echo started');
    expect(outcome).toMatchObject({
      ended: 'spawn-failed',
      error: expect.stringContaining('denies the worktree itself'),
    });
  });

  test('with secrets are masked, in the home directory and in the worktree', async () => {
    await put(box.worktree, { '.env': 'SECRET=1', 'sub/.env.local': 'SECRET=2', '.env.example': 'SECRET=' });
    const { out } = await box.run(
      { filesystem: { dotfileMasking: true } },
      'cat .env sub/.env.local .env.example 2>/dev/null',
    );
    expect(out).toBe('SECRET=');
  });

  test('are shown from directories that the operator names, read-only, but never those of the service', async () => {
    const script = (path: string) =>
      `cat ${path}/agent.txt 2>/dev/null; (echo x > ${path}/made) 2>/dev/null && echo wrote; cat ${path}/data/board.sqlite 2>/dev/null; true`;
    await put(box.directory.path, { 'agent.txt': 'an agent' });
    expect((await box.run({}, script(box.directory.path))).out).not.toContain('an agent');
    const shown = await aSandbox({ shows: ['.'] });
    try {
      await put(shown.directory.path, { 'agent.txt': 'an agent' });
      expect((await shown.run({}, script(shown.directory.path))).out).toBe('an agent');
      expect((await shown.run({ filesystem: { readPaths: ['.'] } }, script(shown.directory.path))).out).toBe(
        'an agent',
      );
      expect(await readdir(shown.directory.path)).not.toContain('made');
    } finally {
      await shown.remove();
    }
  });

  test('may be restricted to some for writing, of which none may be a link out of the worktree', async () => {
    const { out } = await box.run(
      { filesystem: { writePaths: ['src', 'made/here'] } },
      'echo x > src/new && echo x > made/here/new && echo written; (echo x > other) 2>/dev/null || echo refused; cat README.md; mv src src2 2>/dev/null || echo pinned',
    );
    expect(out.split('\n')).toEqual(['written', 'refused', '# Sample', 'pinned']);
    await symlink('/etc', join(box.worktree, 'link'));
    const { outcome } = await box.run({ filesystem: { writePaths: ['link'] } }, 'echo started');
    expect(outcome).toMatchObject({ ended: 'spawn-failed', error: expect.stringContaining('is a symbolic link') });
  });

  test('may be restricted to some for reading: nothing else of the host is there but its system', async () => {
    const { out } = await box.run(
      { filesystem: { readPaths: ['src'] } },
      `cat src/a.txt; cat README.md 2>/dev/null; echo $(ls /) $(ls -A ${box.repository}); (echo x > /top) 2>/dev/null || echo refused; echo x > src/a.txt && echo written`,
    );
    const [first, root, ...rest] = out.split('\n');
    expect(first).toBe('a');
    expect(root).not.toMatch(/\b(home|root|srv|opt|work)\b/);
    expect(rest).toEqual(['refused', 'written']);
  });

  test('are shown no more for the programs that an agent has started', async () => {
    const tools = join(box.directory.path, 'elsewhere');
    await put(tools, { 'tool.sh': '#!/bin/sh\ncat "$(dirname "$0")/secret"', secret: 'beside it' });
    await chmod(join(tools, 'tool.sh'), 0o755);
    const sandbox = await openRunSandbox(box.host, {
      attemptId: 'attempt_programs1',
      preset: aPreset({ filesystem: { readPaths: ['.'] } }),
      worktreePath: box.worktree,
      directory: join(box.directory.path, 'given'),
      given: [],
      program: '/bin/sh',
      callsApi: false,
    });
    const { path: file, args } = await sandbox.wrap({ path: join(tools, 'tool.sh'), args: [] });
    await expect(
      programOutput({ file, args: [...args], cwd: box.worktree, env: { PATH: process.env.PATH } }),
    ).rejects.toThrow();
    await sandbox.close(false);
  });

  test('of the data directory of the service are opened by no preset', async () => {
    const { outcome } = await box.run({ filesystem: { readPaths: [box.dataDir] } }, 'echo started');
    expect(outcome).toMatchObject({ ended: 'spawn-failed', error: expect.stringContaining('data directory') });
  });
});

describe('the repository of a sandbox', () => {
  test('takes the commits of the worktree, and is not changed otherwise', async () => {
    const { repository } = box;
    await sh(repository, 'branch', 'other');
    await sh(repository, 'branch', 'board/sibling');
    await sh(repository, 'gc', '-q');
    await sh(repository, 'update-ref', 'refs/heads/board/loose', 'main');
    const { out, err, outcome } = await box.run(
      {},
      `export GIT_AUTHOR_NAME=A GIT_AUTHOR_EMAIL=a@x GIT_COMMITTER_NAME=A GIT_COMMITTER_EMAIL=a@x
       echo work > work.txt && git add -A && git commit -q -m "Add work" && git log --format=%s -1
       cd ${repository}/.git
       for file in hooks/pre-commit hooks/post-checkout config HEAD packed-refs info/exclude refs/heads/main refs/heads/board/loose objects/info/alternates objects/pack/x worktrees/task/commondir worktrees/task/gitdir; do
         (echo x > "$file") 2>/dev/null && echo "wrote $file"
       done
       rm -f objects/pack/* refs/heads/board/loose 2>/dev/null
       cd "$OLDPWD"; git config user.name Z 2>/dev/null && echo config-changed
       git branch -f main HEAD 2>/dev/null && echo main-moved
       git branch -D other 2>/dev/null && echo other-gone
       (echo "gitdir: /elsewhere" > .git) 2>/dev/null && echo diverted; mv .git x 2>/dev/null && echo moved
       (echo x > ${repository}/README.md) 2>/dev/null; true`,
    );
    // The sandbox has copies of the branches beside its own.
    const made = ['Add work', 'wrote refs/heads/board/loose'].join('\n');
    expect({ out, err, exit: outcome.exitCode }).toMatchObject({ out: made, exit: 0 });
    expect(await sh(box.worktree, 'log', '--format=%s', '-2')).toBe('Add work\nBegin\n');
    expect(await sh(repository, 'fsck', '--full')).toBe('');
    expect(await readFile(join(repository, 'README.md'), 'utf8')).toBe('# Sample\n');
    const refs = await sh(repository, 'for-each-ref', '--format=%(refname) %(objectname)', 'refs/heads');
    expect(refs.split('\n').filter((line) => line.endsWith(box.baseSha))).toHaveLength(4);
  });

  test('has no other branch moved where branches are packed, nor by naming another one as checked out', async () => {
    const { repository, gitDir } = box;
    for (const branch of ['board/packed', 'board/deep/packed', 'elsewhere/other']) {
      await sh(repository, 'branch', branch);
    }
    await sh(repository, 'pack-refs', '--all', '--prune');
    const sandbox = await openRunSandbox(box.host, {
      attemptId: 'attempt_branches1',
      preset: aPreset({}),
      worktreePath: box.worktree,
      gitDir,
      directory: join(box.directory.path, 'given'),
      given: [],
      callsApi: false,
    });
    const run = async (script: string) => {
      const { path: file, args } = await sandbox.wrap({ path: '/bin/sh', args: ['-c', script] });
      const env = { PATH: process.env.PATH, ...sandbox.environment };
      return (await programOutput({ file, args: [...args], cwd: box.worktree, env })).trim();
    };
    await run(`echo 'ref: refs/heads/elsewhere/other' > ${gitDir}/HEAD`);
    expect(
      await run(
        `cd ${repository}/.git/refs/heads; for name in board/packed board/deep/packed elsewhere/other main; do
           (mkdir -p "$(dirname $name)"; echo x > $name) 2>/dev/null && echo "wrote $name"
         done; echo x > board/task.lock && rm board/task.lock && echo own`,
      ),
    ).toBe(['wrote board/packed', 'wrote board/deep/packed', 'own'].join('\n'));
    await sandbox.close(false);
    const refs = await sh(repository, 'for-each-ref', '--format=%(objectname) %(refname)', 'refs/heads');
    expect(refs.trim().split('\n')).toEqual(
      ['board/deep/packed', 'board/packed', 'board/task', 'elsewhere/other', 'main'].map(
        (branch) => `${box.baseSha} refs/heads/${branch}`,
      ),
    );
    expect(await sh(repository, 'fsck', '--full')).toBe('');
  });

  test('has no branch that leads out of it by a link', async () => {
    const { repository, worktree, directory } = box;
    const heads = join(repository, '.git', 'refs', 'heads', 'board');
    await rename(heads, join(directory.path, 'elsewhere'));
    await symlink(join(directory.path, 'elsewhere'), heads);
    const { outcome } = await box.run({}, 'echo started');
    expect(outcome).toMatchObject({ ended: 'spawn-failed', error: expect.stringContaining('symbolic link') });
    expect(await readdir(join(directory.path, 'elsewhere'))).toEqual(['task']);
    expect(await sh(worktree, 'status', '--porcelain')).toBe('');
  });

  test('does not lose tracked files that are denied by a commit of everything', async () => {
    await put(box.worktree, { 'vault/key': 'denied' });
    await commit(box.worktree, 'Add the vault');
    const { out } = await box.run(
      denying('vault'),
      `export GIT_AUTHOR_NAME=A GIT_AUTHOR_EMAIL=a@x GIT_COMMITTER_NAME=A GIT_COMMITTER_EMAIL=a@x
       echo work > work.txt; git add -A 2>/dev/null; git commit -q -m "Add work" && git show --stat --format=%s HEAD`,
    );
    expect(out).toContain('work.txt');
    expect(out).not.toContain('vault');
    expect(await sh(box.worktree, 'ls-files', 'vault')).toBe('vault/key\n');
  });
});

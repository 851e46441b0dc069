import { existsSync, readdirSync } from 'node:fs';
import { appendFile, mkdir, symlink, unlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { aRepository, git } from '../../support/git/repository';
import { programOutput } from '../../support/processes/program-output';
import { type Stack, startStack } from '../../support/stack/stack';

let stack: Stack;
let made = 0;
const anew = (): Promise<string> => {
  made += 1;
  return aRepository(stack.dir, `repo-${made}`);
};
beforeAll(async () => {
  stack = await startStack();
});
afterAll(() => stack.close());

const validate = (body: object) => stack.call.post('/api/config/repos/validate', body);
/** Everything below a directory, by name. */
const treeOf = (path: string): string[] => readdirSync(path, { recursive: true }).map(String).sort();
const settingsOfGit = () => treeOf(join(stack.dir, 'data', 'git'));

describe('the validation of a repository', () => {
  it('answers what HEAD and the remotes are, on the host that was asked', async () => {
    const path = await anew();
    await git(path, 'remote', 'add', 'origin', '/nowhere/at/all');
    const commit = await git(path, 'rev-parse', 'HEAD');
    const { status, body } = await validate({ path, remote: 'origin' });
    expect([status, body]).toEqual([
      200,
      {
        valid: true,
        hostId: stack.worker.hostId,
        problems: [],
        head: { branch: 'main', commit },
        defaultBranch: 'main',
        remotes: ['origin'],
      },
    ]);
    expect((await validate({ path, hostId: stack.worker.hostId })).body.valid).toBe(true);
  });

  it('agrees with the refusal of adding it, and lists everything that is wrong', async () => {
    const path = await anew();
    await stack.call.ok('POST', '/api/config/repos', { name: 'taken', path });
    const empty = join(stack.dir, 'empty');
    await mkdir(empty);
    for (const wrong of [
      { path: '/nowhere/at/all' },
      { path: empty },
      { path: join(path, 'README.md') },
      { path, defaultBranch: 'missing' },
      { path, defaultBranch: '--upload-pack=touch' },
      { path, remote: 'missing' },
      { path, allowFilters: ['missing'] },
    ]) {
      const { status, body } = await validate(wrong);
      expect([status, body.valid, body.problems.length]).toEqual([200, false, 1]);
      const refused = await stack.call.post('/api/config/repos', { name: 'new', ...wrong });
      const [{ path: field, message }] = refused.body.details.issues;
      expect(body.problems).toEqual([{ field, message }]);
    }
    const { body } = await validate({
      name: 'taken',
      path,
      remote: 'gone',
      defaultBranch: 'gone',
      allowFilters: ['x'],
    });
    expect(body.problems.map(({ field }: { field: string }) => field)).toEqual([
      'name',
      'remote',
      'allowFilters',
      'defaultBranch',
    ]);
  });

  it('accepts a branch that only the remote has', async () => {
    const remote = await anew();
    await git(remote, 'branch', 'elsewhere');
    const path = await anew();
    await git(path, 'remote', 'add', 'origin', remote);
    expect((await validate({ path, defaultBranch: 'elsewhere' })).body).toMatchObject({ valid: true });
    expect((await validate({ path, defaultBranch: 'nowhere' })).body.problems).toHaveLength(1);
  });

  it('stores nothing, makes nothing in the repository and runs nothing of its configuration', async () => {
    const path = await anew();
    const marker = join(stack.dir, 'ran');
    const program = `touch ${marker}`;
    await mkdir(join(path, '.git', 'hooks'), { recursive: true });
    await writeFile(join(path, '.git', 'hooks', 'post-index-change'), `#!/bin/sh\n${program}\n`, { mode: 0o755 });
    await appendFile(
      join(path, '.git', 'config'),
      [
        '[core]',
        ...['fsmonitor', 'sshCommand', 'pager', 'editor'].map((key) => `\t${key} = "${program}"`),
        '[extensions]\n\tpartialClone = origin\n[remote "origin"]\n\turl = ssh://nobody@127.0.0.1:1/x\n\tpromisor = true',
        `\tuploadpack = "${program}"\n[include]\n\tpath = ${join(stack.dir, 'more')}\n`,
      ].join('\n'),
    );
    await writeFile(join(stack.dir, 'more'), `[core]\n\tfsmonitor = "${program}"\n`);
    const [before, recorded] = [treeOf(path), settingsOfGit()];
    expect((await validate({ path })).body).toMatchObject({ valid: true, remotes: ['origin'] });
    expect([treeOf(path), settingsOfGit()]).toEqual([before, recorded]);
    expect(existsSync(marker)).toBe(false);
    expect(
      (await stack.call.ok('GET', '/api/config/repos')).repos.map((one: { path: string }) => one.path),
    ).not.toContain(path);
  });

  it('does not wait for pipes, and quotes no file that a link leads to', async () => {
    const path = await anew();
    const secret = join(stack.dir, 'secret');
    await writeFile(secret, 'hush-hush-0815\n');
    await unlink(join(path, '.git', 'HEAD'));
    await symlink(secret, join(path, '.git', 'HEAD'));
    const linked = await validate({ path });
    expect([linked.status, linked.body.valid]).toEqual([200, false]);
    expect(JSON.stringify(linked.body)).not.toContain('hush');
    await unlink(join(path, '.git', 'HEAD'));
    await programOutput({ file: 'mkfifo', args: [join(path, '.git', 'HEAD')], cwd: path, env: process.env });
    expect((await validate({ path })).body).toMatchObject({ valid: false, problems: [{ field: 'path' }] });
  });
});

describe('the branches of a repository', () => {
  const list = (name: string, query = '') => stack.call.get(`/api/config/repos/${name}/branches${query}`);
  const configured = async (name: string): Promise<string> => {
    const path = await anew();
    await git(path, 'remote', 'add', 'origin', '/nowhere/at/all');
    await git(path, 'remote', 'add', 'origin/fork', '/nowhere/at/all');
    await stack.call.ok('POST', '/api/config/repos', { name, path });
    return path;
  };

  it('are its own and those of its remotes as fetched last, sorted, with the default one marked', async () => {
    const path = await configured('listed');
    const head = await git(path, 'rev-parse', 'HEAD');
    for (const ref of [
      'heads/feature/one',
      'remotes/origin/main',
      'remotes/origin/fork/next',
      'remotes/gone/main',
      'tags/v1',
    ]) {
      await git(path, 'update-ref', `refs/${ref}`, head);
    }
    await git(path, 'symbolic-ref', 'refs/remotes/origin/HEAD', 'refs/remotes/origin/main');
    const { status, body } = await list('listed');
    expect([status, body]).toEqual([
      200,
      {
        repo: 'listed',
        hostId: stack.worker.hostId,
        defaultBranch: 'main',
        branches: [
          { name: 'feature/one', head, isDefault: false },
          { name: 'main', head, isDefault: true },
          { name: 'main', head, isDefault: true, remote: 'origin' },
          { name: 'next', head, isDefault: false, remote: 'origin/fork' },
        ],
        unlisted: 0,
      },
    ]);
  });

  it('are listed whatever they are named, and whatever their references lead to', async () => {
    const path = await configured('hostile');
    const head = await git(path, 'rev-parse', 'HEAD');
    const names = ['$(touch x)', "a'b", 'a"b', '<script>', '__proto__', 'constructor', 'é', 'x;reboot', '%00', 'a&b=c'];
    const usable = names.filter((name) => name !== '$(touch x)');
    const input = [...usable, `long-${'x'.repeat(230)}`].map((name) => `create refs/heads/${name} ${head}\n`).join('');
    await writeFile(join(stack.dir, 'refs'), input);
    await programOutput({
      file: 'sh',
      args: ['-c', 'git update-ref --stdin < "$1"', 'sh', join(stack.dir, 'refs')],
      cwd: path,
      env: { PATH: process.env.PATH },
    });
    const refs = join(path, '.git', 'refs', 'heads');
    await writeFile(join(refs, '-option'), `${head}\n`);
    await writeFile(Buffer.concat([Buffer.from(`${refs}/bytes-`), Buffer.from([0xff, 0xfe])]), `${head}\n`);
    await writeFile(join(refs, 'dangling'), `${'1'.repeat(40)}\n`);
    await writeFile(join(refs, 'damaged'), 'nonsense\n');
    await writeFile(join(refs, 'with\nline end'), `${head}\n`);
    await symlink('/etc/passwd', join(refs, 'link'));
    const { status, body } = await list('hostile');
    expect(status).toBe(200);
    const listed = body.branches.map(({ name }: { name: string }) => name);
    expect(listed).toEqual([...usable, 'dangling', 'main'].sort());
    // A name that is too long, one that begins like an option, and one that is no text.
    expect(body.unlisted).toBe(3);
    expect(JSON.stringify(body)).not.toMatch(/root:/);
  });

  it('are read in pages, each once, while others are added', async () => {
    const path = await configured('paged');
    const head = await git(path, 'rev-parse', 'HEAD');
    const names = Array.from({ length: 250 }, (_, n) => `b-${String(n).padStart(3, '0')}`);
    const packed = names
      .flatMap((name) => [`${head} refs/heads/${name}`, `${head} refs/remotes/origin/${name}`])
      .sort();
    await writeFile(join(path, '.git', 'packed-refs'), `${packed.join('\n')}\n`);
    const seen: string[] = [];
    for (let query: string | undefined = '?limit=7'; query !== undefined;) {
      const { status, body } = await list('paged', query);
      expect(status).toBe(200);
      seen.push(...body.branches.map(({ name, remote = '' }: Record<string, string>) => `${name} ${remote}`));
      await git(path, 'branch', '--force', 'a-new-one');
      query = body.nextCursor && `?limit=200&cursor=${body.nextCursor}`;
    }
    expect(seen).toEqual([...names.flatMap((name) => [`${name} `, `${name} origin`]), 'main ']);
  });

  it('are of the repository that was configured, and of no other at its path', async () => {
    const path = await configured('diverted');
    const { path: other } = { path: await anew() };
    await programOutput({ file: 'mv', args: ['.git', 'moved'], cwd: path, env: process.env });
    await symlink(join(other, '.git'), join(path, '.git'));
    expect(await list('diverted')).toMatchObject({ status: 409, body: { code: 'REPOSITORY_UNAVAILABLE' } });
    await unlink(join(path, '.git'));
    const gone = await list('diverted');
    expect(gone).toMatchObject({ status: 409, body: { code: 'REPOSITORY_UNAVAILABLE' } });
    expect(gone.body.error).toContain('no git repository');
  });

  it('are asked of the host that has the repository', async () => {
    const path = await anew();
    await stack.call.ok('POST', '/api/config/repos', { name: 'placed', path, hostId: stack.worker.hostId });
    expect((await list('placed', `?hostId=${stack.worker.hostId}`)).status).toBe(200);
    const elsewhere = await list('placed', '?hostId=elsewhere');
    expect([elsewhere.status, elsewhere.body.details.issues[0].path]).toEqual([400, 'hostId']);
  });
});

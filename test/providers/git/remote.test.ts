import { chmod, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { createGit } from '../../../providers/git/git';
import { parseRemoteUrl } from '../../../providers/git/refs/remotes';
import { sh } from './git-fixture';
import { aClone, type CloneFixture, primaryOf, shaOf } from './git-remote-fixture';

let at: CloneFixture;

beforeEach(async () => {
  at = await aClone();
});
afterEach(() => at.directory.remove());

describe('fetching a base', () => {
  it('brings exactly that branch, and leaves the primary checkout alone', async () => {
    const { git, repository, onBase, advance, colleague } = at;
    await sh(colleague, 'push', '-q', 'origin', 'HEAD:refs/heads/other');
    await sh(colleague, 'tag', 'v1');
    await sh(colleague, 'push', '-q', 'origin', 'v1');
    const sha = await advance({ 'src/new.txt': 'new\n' });
    const primary = await primaryOf(repository);
    const fetched = await git.fetchBase(onBase);
    expect(fetched).toMatchObject({ sha, ref: 'refs/remotes/origin/main' });
    expect(fetched.remoteUrlFingerprint).toMatch(/^[0-9a-f]{64}$/);
    expect(Date.parse(fetched.fetchedAt)).toBeGreaterThan(Date.now() - 60_000);
    const refs = await sh(repository, 'for-each-ref', '--format=%(refname)');
    expect(refs.trim().split('\n')).toEqual(['refs/heads/board/task', 'refs/heads/main', 'refs/remotes/origin/main']);
    expect(await primaryOf(repository)).toEqual(primary);
    expect(await git.localBase(onBase)).toEqual({ sha, source: 'remote-tracking' });
    expect(await git.remoteHead(onBase)).toBe(sha);
  });

  it('follows a base that was rewritten', async () => {
    const { git, colleague, onBase } = at;
    await git.fetchBase(onBase);
    await sh(colleague, 'commit', '-q', '--amend', '-m', 'Rewritten');
    await sh(colleague, 'push', '-q', '--force', 'origin', 'main');
    expect((await git.fetchBase(onBase)).sha).toBe(await shaOf(colleague, 'main'));
  });

  it('waits for others that fetch the same', async () => {
    const sha = await at.advance({ more: '1' });
    const fetched = await Promise.all(Array.from({ length: 8 }, () => at.git.fetchBase(at.onBase)));
    expect(fetched.map((each) => each.sha)).toEqual(Array(8).fill(sha));
  });

  it('reports why it failed, without credentials', async () => {
    const { git, repository, onBase } = at;
    await expect(git.fetchBase({ ...onBase, branch: 'nowhere' })).rejects.toMatchObject({ code: 'fetch-failed' });
    await sh(repository, 'remote', 'set-url', 'origin', join(at.directory.path, 'gone.git'));
    await at.configure();
    await expect(git.fetchBase(onBase)).rejects.toMatchObject({ code: 'fetch-failed' });
    await sh(repository, 'remote', 'set-url', 'origin', 'http://someone:hidden-word@127.0.0.1:1/x.git');
    await at.configure();
    const refused = git.fetchBase(onBase);
    await expect(refused).rejects.toMatchObject({ code: 'fetch-failed' });
    await expect(refused).rejects.not.toThrow(/hidden-word/);
    expect(await git.remoteHead({ ...onBase, branch: 'nowhere' }).catch((error: unknown) => error)).toMatchObject({
      code: 'fetch-failed',
    });
  });

  it('ends a remote that reports nothing', async () => {
    const sockets: { destroy(): void }[] = [];
    const server: Server = createServer((socket) => sockets.push(socket.on('error', () => undefined)));
    await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
    try {
      const { port } = server.address() as { port: number };
      await sh(at.repository, 'remote', 'set-url', 'origin', `git://127.0.0.1:${port}/x`);
      await at.configure();
      const hasty = createGit({ settingsDir: join(at.directory.path, 'hasty'), transferStallMs: 200 });
      await expect(hasty.fetchBase(at.onBase)).rejects.toMatchObject({
        code: 'fetch-failed',
        message: expect.stringContaining('no progress'),
      });
    } finally {
      for (const socket of sockets) {
        socket.destroy();
      }
      await new Promise((closed) => server.close(closed));
    }
  });

  it('runs no program that the repository names', async () => {
    const { git, repository, onBase, directory } = at;
    const program = join(directory.path, 'program');
    await writeFile(program, `#!/bin/sh\ntouch '${program}-ran'\nexit 1\n`);
    await chmod(program, 0o755);
    await writeFile(join(repository, '.git/hooks/reference-transaction'), `#!/bin/sh\n${program}\n`, { mode: 0o755 });
    await sh(repository, 'config', 'remote.origin.uploadpack', program);
    await sh(repository, 'config', 'core.fsmonitor', program);
    await sh(repository, 'config', 'core.askPass', program);
    await sh(repository, 'config', 'core.alternateRefsCommand', program);
    expect((await git.fetchBase(onBase)).sha).toBe(at.baseSha);
    expect(await git.remoteHead(onBase)).toBe(at.baseSha);
    await expect(sh(directory.path, 'hash-object', `${program}-ran`)).rejects.toThrow();
  });

  it.each([
    ['a helper', 'ext::sh -c touch% /tmp/x'],
    ['an option', '--upload-pack=touch x'],
    ['a protocol of its own', 'board://host/x'],
    ['a host that is an option', 'ssh://-oProxyCommand=touch/x'],
    ['the same for scp', '-oProxyCommand=touch:x'],
  ])('refuses a URL with %s', async (_, url) => {
    await sh(at.repository, 'config', 'remote.origin.url', url);
    await at.configure();
    await expect(at.git.fetchBase(at.onBase)).rejects.toMatchObject({ code: 'unknown-remote' });
    await expect(at.git.remoteHead(at.onBase)).rejects.toMatchObject({ code: 'unknown-remote' });
  });

  it('knows remotes by their configured names only', async () => {
    for (const remote of [at.remote, '--all', '', 'nobody', '../remote.git', 'ext::x']) {
      await expect(at.git.fetchBase({ ...at.onBase, remote })).rejects.toMatchObject({ code: 'unknown-remote' });
    }
    for (const branch of ['--force', 'main:other', '+main', 'a..b', 'refs/*']) {
      const answer = at.git.fetchBase({ ...at.onBase, branch });
      await expect(answer).rejects.toMatchObject({ code: branch === '+main' ? 'fetch-failed' : 'unknown-ref' });
    }
  });
});

describe('the fingerprint of a remote', () => {
  const fingerprintOf = async (url: string): Promise<string> => {
    await sh(at.repository, 'remote', 'set-url', 'origin', url);
    await at.configure();
    return at.git.remoteFingerprint({ repositoryPath: at.repository, remote: 'origin' });
  };

  it.each([
    [
      'https://example.org/team/shop',
      [
        'https://me:pw@Example.org/team/shop.git',
        'HTTPS://example.org:443/team/shop/',
        'https://t@example.org/team/shop',
      ],
    ],
    ['ssh://git@example.org/team/shop.git', ['git@example.org:team/shop', 'ssh://example.org:22/team/shop']],
  ])('is the same for every spelling of %s', async (url, others) => {
    const wanted = await fingerprintOf(url);
    for (const other of others) {
      expect(await fingerprintOf(other)).toBe(wanted);
    }
    expect(await fingerprintOf(`${url}2`)).not.toBe(wanted);
  });

  it('is the same for every spelling of a path', async () => {
    const wanted = await fingerprintOf(at.remote);
    for (const url of [`file://${at.remote}`, `${at.remote}/`, '../remote.git', '../remote']) {
      expect(await fingerprintOf(url)).toBe(wanted);
    }
  });

  it('is of the place that is really meant', async () => {
    const wanted = await fingerprintOf('https://example.org/team/shop');
    await sh(at.repository, 'config', 'url.https://example.org/.insteadOf', 'work:');
    await at.configure();
    expect(await fingerprintOf('work:team/shop')).toBe(wanted);
  });

  it('takes apart what git takes apart', () => {
    expect(parseRemoteUrl('ssh://git@[::1]:2222/x')).toEqual({ protocol: 'ssh', host: '[::1]:2222', path: '/x' });
    expect(parseRemoteUrl('./a:b')).toEqual({ protocol: 'file', host: undefined, path: './a:b' });
    expect(parseRemoteUrl('host:~/x')).toEqual({ protocol: 'ssh', host: 'host', path: '~/x' });
    expect(parseRemoteUrl('https://')).toBeUndefined();
    expect(parseRemoteUrl('http://a\nb/')).toBeUndefined();
  });
});

import { createHash } from 'node:crypto';
import { realpath } from 'node:fs/promises';
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isBranchName } from '../../../contracts/common';
import { GitError } from '../git-error';
import { type GitRunner, gitText } from '../run-git';
import { valueOf } from '../settings/entries';

const protocols: ReadonlySet<string> = new Set(['file', 'git', 'http', 'https', 'ssh']);

const defaultPorts: Readonly<Record<string, string>> = { git: '9418', http: '80', https: '443', ssh: '22' };

const aliases: Readonly<Record<string, string>> = { 'git+ssh': 'ssh', 'ssh+git': 'ssh' };

/** A remote's URL taken apart. `host` is `undefined` for a path of this machine. */
interface RemoteLocation {
  protocol: string;
  host: string | undefined;
  path: string;
}

/**
 * Takes apart a URL, a path, or `host:path` as ssh knows it; the rules are those of git-fetch. `undefined` for what git
 * could take for an option, or would hand to a helper program.
 */
export function parseRemoteUrl(url: string): RemoteLocation | undefined {
  if (url === '' || url.startsWith('-') || /[\u0000-\u001f\u007f]/.test(url) || /^[^/]*::/.test(url)) {
    return undefined;
  }
  const scheme = /^([a-z][a-z0-9+.-]*):\/\//i.exec(url)?.[1]?.toLowerCase();
  if (scheme === undefined) {
    const scp = /^(?:[^/@]*@)?(\[[^\]]+\]|[^/:]+):(.*)$/.exec(url);
    if (!scp) {
      return { protocol: 'file', host: undefined, path: url };
    }
    const [, host = '', path = ''] = scp;
    return host.startsWith('-') ? undefined : { protocol: 'ssh', host: host.toLowerCase(), path };
  }
  const protocol = aliases[scheme] ?? scheme;
  if (!protocols.has(protocol)) {
    return undefined;
  }
  const rest = url.slice(url.indexOf('://') + 3);
  if (protocol === 'file') {
    return { protocol, host: undefined, path: pathOfFileUrl(url) ?? rest };
  }
  const slash = rest.includes('/') ? rest.indexOf('/') : rest.length;
  const authority = rest.slice(0, slash);
  const host = authority.slice(authority.lastIndexOf('@') + 1).toLowerCase();
  if (host === '' || host.startsWith('-')) {
    return undefined;
  }
  const port = `:${defaultPorts[protocol] ?? ''}`;
  const path = rest.slice(slash).replace(/[?#].*$/, '');
  return { protocol, host: host.endsWith(port) ? host.slice(0, -port.length) : host, path };
}

function pathOfFileUrl(url: string): string | undefined {
  try {
    return fileURLToPath(url);
  } catch {
    return undefined;
  }
}

/** One spelling for all that mean the same location: no credentials, default port, `.git` or slashes around the path. */
async function canonical({ protocol, host, path }: RemoteLocation, repositoryPath: string): Promise<string> {
  if (host === undefined) {
    const absolute = resolve(repositoryPath, path);
    const existing = await Promise.any([absolute, `${absolute}.git`].map((each) => realpath(each))).catch(
      () => absolute,
    );
    return `file://${existing}`;
  }
  return `${protocol}://${host}/${path.replace(/^\/+|\/+$/g, '').replace(/\.git$/, '')}`;
}

/**
 * Where a remote is, after the rewriting of URLs that is configured.
 *
 * @throws GitError `unknown-remote` unless it is configured by this name, and its URL is of a protocol that runs no
 *   program of the repository's choice
 */
export async function locateRemote(
  git: GitRunner,
  repositoryPath: string,
  { remote, direction = 'fetch' }: { remote: string; direction?: 'fetch' | 'push' },
): Promise<RemoteLocation> {
  const cwd = repositoryPath;
  const refuse = (why: string): GitError =>
    new GitError('unknown-remote', `The remote ${JSON.stringify(remote)} ${why}.`);
  if (!isBranchName(remote)) {
    throw refuse('is not a name');
  }
  const settings = await git.repositories.effective(cwd);
  if (valueOf(settings, `remote.${remote}.url`) === undefined) {
    throw refuse(`is not configured in ${repositoryPath}`);
  }
  if (valueOf(settings, `remote.${remote}.vcs`) !== undefined) {
    throw refuse('needs a helper program');
  }
  const push = direction === 'push' ? ['--push'] : [];
  const urls = (await gitText(git, ['remote', 'get-url', '--all', ...push, '--', remote], { cwd })).split('\n');
  const places = urls.map(parseRemoteUrl);
  const [first] = places;
  if (!first || places.includes(undefined)) {
    throw refuse('has a URL with an unsupported protocol');
  }
  return first;
}

/** See `WorktreeGit.defaultRemote`. */
export async function defaultRemote(
  git: GitRunner,
  { repositoryPath: cwd, branch }: { repositoryPath: string; branch: string },
): Promise<string | undefined> {
  const settings = await git.repositories.effective(cwd);
  const upstream = valueOf(settings, `branch.${branch}.remote`)?.trimEnd();
  // A dot stands for the repository itself.
  if (upstream !== undefined && upstream !== '.') {
    return upstream;
  }
  return valueOf(settings, 'remote.origin.url') === undefined ? undefined : 'origin';
}

/** See `WorktreeGit.remoteFingerprint`. */
export async function remoteFingerprint(
  git: GitRunner,
  { repositoryPath, remote }: { repositoryPath: string; remote: string },
): Promise<string> {
  const place = await locateRemote(git, repositoryPath, { remote });
  return createHash('sha256')
    .update(await canonical(place, repositoryPath))
    .digest('hex');
}

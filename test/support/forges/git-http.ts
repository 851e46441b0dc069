import { spawn } from 'node:child_process';
import { mkdir } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { join } from 'node:path';
import { git } from '../git/repository';
import { programOutput } from '../processes/program-output';

export interface GitHttp {
  /** Takes requests of git's smart HTTP protocol, for a server of a forge. */
  raw: (request: IncomingMessage, response: ServerResponse) => boolean;
  /** The bare repository `acme/shop`. */
  path: string;
  /** The `Authorization` headers that requests had, one of each. */
  authorizations: Set<string>;
  /** Where a branch is; `undefined` when there is none. */
  head(branch: string): Promise<string | undefined>;
}

/**
 * The git of a forge: `acme/shop.git` behind git's own `http-backend`, for who has the token.
 *
 * @param token what `Authorization` has to have as the password
 * @param user the user name that it has to have: GitHub documents `x-access-token`, GitLab `oauth2`
 */
export async function gitHttp(dir: string, token: string, user = 'x-access-token'): Promise<GitHttp> {
  const root = join(dir, 'forge');
  const path = join(root, 'acme', 'shop.git');
  await mkdir(path, { recursive: true });
  await git(path, 'init', '--quiet', '--bare', '--initial-branch=main');
  const backend = join(
    (await programOutput({ file: 'git', args: ['--exec-path'], cwd: dir, env: process.env })).trim(),
    'git-http-backend',
  );
  const authorizations = new Set<string>();
  return {
    path,
    authorizations,
    head: async (branch) => {
      const heads = await git(path, 'for-each-ref', '--format=%(objectname)', `refs/heads/${branch}`);
      return heads === '' ? undefined : heads;
    },
    raw(request, response) {
      const { pathname, search } = new URL(request.url ?? '/', 'http://forge');
      if (!pathname.startsWith('/acme/') || !pathname.includes('.git/')) {
        return false;
      }
      const { authorization = '' } = request.headers;
      authorizations.add(authorization);
      if (Buffer.from(authorization.replace(/^Basic /, ''), 'base64').toString() !== `${user}:${token}`) {
        response.writeHead(401, { 'www-authenticate': 'Basic realm="forge"' }).end();
        return true;
      }
      serve(backend, { root, pathname, query: search.slice(1) }, [request, response]);
      return true;
    },
  };
}

function serve(
  backend: string,
  { root, pathname, query }: { root: string; pathname: string; query: string },
  [request, response]: [IncomingMessage, ServerResponse],
): void {
  const child = spawn(backend, {
    env: {
      PATH: process.env.PATH,
      GIT_PROJECT_ROOT: root,
      GIT_HTTP_EXPORT_ALL: '1',
      PATH_INFO: pathname,
      QUERY_STRING: query,
      REQUEST_METHOD: request.method,
      CONTENT_TYPE: request.headers['content-type'],
      HTTP_CONTENT_ENCODING: request.headers['content-encoding'],
      GIT_PROTOCOL: request.headers['git-protocol'] as string | undefined,
      REMOTE_USER: 'runboard-bot',
      REMOTE_ADDR: '127.0.0.1',
    },
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  child.stdin.on('error', () => undefined);
  request.pipe(child.stdin);
  const chunks: Buffer[] = [];
  child.stdout.on('data', (chunk: Buffer) => chunks.push(chunk));
  child.once('close', () => {
    const output = Buffer.concat(chunks);
    const end = output.indexOf('\r\n\r\n');
    const headers = output.subarray(0, end).toString().split('\r\n');
    let status = 200;
    for (const line of headers) {
      const [name = '', ...value] = line.split(': ');
      if (name.toLowerCase() === 'status') {
        status = Number(value.join(': ').slice(0, 3));
      } else {
        response.setHeader(name, value.join(': '));
      }
    }
    response.writeHead(status).end(output.subarray(end + 4));
  });
}

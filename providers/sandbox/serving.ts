import { constants } from 'node:fs';
import { mkdir, open, rm } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { compiledScript } from '../../platform/processes/compiled-script';
import { inRuntime } from './layout';
import type { Mount } from './mounts';

const socketName = 'port';
/** Opens what a path names without opening it: of the system, and not among the constants of Node. */
const pathOnly = 0o10000000;

/** The name of the directory with the socket of a program that serves a port. */
export const servingSuffix = '.serve';

/** The one port of a sandboxed program that its host reaches, through a socket: its network is its own. */
export interface Serving {
  /** What the program is started with. */
  relay: readonly string[];
  mounts: readonly Mount[];
  /** @throws Error while the socket is not there, or is none */
  connect: () => Promise<Socket>;
  close: () => Promise<void>;
}

/** @param id names it among all in the directory */
export async function openServing(directory: string, { id, port }: { id: string; port: number }): Promise<Serving> {
  const shared = join(directory, `${id}${servingSuffix}`);
  await mkdir(shared, { recursive: true, mode: 0o700 });
  const [node, script, inside] = ['node', 'serve.cjs', 'serve'].map(inRuntime) as [string, string, string];
  return {
    relay: [node, script, join(inside, socketName), String(port)],
    mounts: [
      { kind: 'read', source: process.execPath, path: node },
      { kind: 'read', source: compiledScript(__dirname, 'serve-process.js'), path: script },
      { kind: 'write', source: shared, path: inside },
    ],
    async connect() {
      // The program can put anything there: a link to a socket of the host is not followed, nor a path that has become one since.
      const found = await open(join(shared, socketName), pathOnly | constants.O_NOFOLLOW);
      try {
        if (!(await found.stat()).isSocket()) {
          throw new Error('What the sandbox shows is no socket.');
        }
        return await connected(`/proc/self/fd/${found.fd}`);
      } finally {
        await found.close();
      }
    },
    close: () => rm(shared, { recursive: true, force: true }),
  };
}

const connected = (path: string): Promise<Socket> =>
  new Promise((resolve, reject) => {
    const socket = connect({ path });
    socket.once('error', reject);
    socket.once('connect', () => {
      socket.off('error', reject);
      // What fails before its user listens ends it, and not the process.
      socket.on('error', () => socket.destroy());
      resolve(socket);
    });
  });

import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { explainListenError } from '../../http/server/listen-error';

/** A configured port that something else already listens on. */
export class PortInUseError extends Error {
  override readonly name = 'PortInUseError';

  constructor(
    readonly port: number,
    readonly setting: string,
    host: string,
  ) {
    super(`Port ${port} on ${host} is in use. Set ${setting} to another one, or to 0 for a free one.`);
  }
}

async function bindOnce(host: string, port: number): Promise<number> {
  const server = createServer().listen(port, host);
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  if (address === null || typeof address === 'string') {
    throw new Error('A TCP server has no TCP address.');
  }
  return address.port;
}

/**
 * Where free ports are taken from: below those that systems give to outgoing connections, which come and go between the
 * claim of a port and its use.
 */
const free = { from: 12_000, to: 32_000 };
const maxTries = 50;

async function bindFree(host: string): Promise<number> {
  for (let tries = 0; tries < maxTries; tries += 1) {
    try {
      return await bindOnce(host, randomInt(free.from, free.to));
    } catch (error) {
      if (!isInUse(error)) {
        throw error;
      }
    }
  }
  return bindOnce(host, 0);
}

const isInUse = (error: unknown): boolean => (error as NodeJS.ErrnoException).code === 'EADDRINUSE';

/**
 * The port to use for a setting: the configured one, or for 0 a free one, picked at random so that a clash before it is
 * used is unlikely.
 *
 * @param setting name of the environment variable, or what else the port is called, for the error
 * @throws PortInUseError when the configured one is taken, ListenError when the host cannot be listened on
 */
export async function claimPort(port: number, setting: string, host = '127.0.0.1'): Promise<number> {
  try {
    return await (port === 0 ? bindFree(host) : bindOnce(host, port));
  } catch (error) {
    if (isInUse(error)) {
      throw new PortInUseError(port, setting, host);
    }
    throw explainListenError(error as NodeJS.ErrnoException, { host, port, setting });
  }
}

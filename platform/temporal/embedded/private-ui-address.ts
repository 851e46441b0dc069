import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { platform } from 'node:os';

/** Where a server listens. */
export interface SocketAddress {
  host: string;
  port: number;
}

/**
 * Ports that browsers do not connect to, whatever a page requests ("bad ports" of the Fetch Standard). Those below 1024, and
 * those of X11 and NFS, which may be in use, are omitted.
 */
export const portsBlockedByBrowsers = [
  1719, 1720, 1723, 3659, 4190, 5060, 5061, 6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697, 10_080,
] as const;

const maxTries = 100;

/**
 * An address of this machine for a server that checks neither `Host` nor `Origin`, as the UI of the Temporal CLI: no page
 * can reach it by DNS rebinding, because browsers refuse its port. On Linux, where all of 127.0.0.0/8 is this machine, it
 * is a random one besides, so that several servers do not compete for a few ports.
 *
 * @throws Error when no such port is free
 */
export async function privateUiAddress(): Promise<SocketAddress> {
  for (let tries = 0; tries < maxTries; tries += 1) {
    const host = platform() === 'linux' ? randomLoopbackAddress() : '127.0.0.1';
    const port = portsBlockedByBrowsers[randomInt(portsBlockedByBrowsers.length)] ?? portsBlockedByBrowsers[0];
    if (await canListen({ host, port })) {
      return { host, port };
    }
  }
  throw new Error('No address for the UI of Temporal: every port that browsers refuse is in use on this machine.');
}

const randomLoopbackAddress = (): string => `127.${randomInt(1, 255)}.${randomInt(0, 256)}.${randomInt(1, 255)}`;

async function canListen({ host, port }: SocketAddress): Promise<boolean> {
  const server = createServer().listen(port, host);
  try {
    await once(server, 'listening');
  } catch {
    return false;
  }
  server.close();
  await once(server, 'close');
  return true;
}

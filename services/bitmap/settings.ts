import { isIP } from 'node:net';
import { join, resolve } from 'node:path';
import { EnvironmentError, type Environment } from '../../platform/config/env';

export interface BitmapSettings {
  host: string;
  /** 0 takes a free one. */
  port: number;
  /** Absolute. */
  directory: string;
  token?: string;
  bodyLimit: number;
}

const isLoopback = (host: string): boolean =>
  host === 'localhost' || host === '::1' || (isIP(host) === 4 && host.startsWith('127.'));

/**
 * What the server is started with.
 *
 * @throws EnvironmentError when it would be open to other machines without a token
 */
export function bitmapSettings(env: Environment): BitmapSettings {
  const { BOARD_HOST: host, BITMAP_TOKEN: token } = env;
  if (token === undefined && !isLoopback(host)) {
    throw new EnvironmentError([
      `BITMAP_TOKEN: required while the bitmap index listens on ${host}, which is not loopback`,
    ]);
  }
  return {
    host,
    port: env.BITMAP_PORT,
    directory: join(resolve(env.BOARD_DATA_DIR), 'bitmap'),
    token,
    bodyLimit: env.BITMAP_BODY_LIMIT_BYTES,
  };
}

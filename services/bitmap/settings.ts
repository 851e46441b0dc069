import { availableParallelism } from 'node:os';
import { join, resolve } from 'node:path';
import type { PartEnvironment } from '../../platform/config/part-settings';
import { isLoopbackHost } from '../../platform/http/loopback-host';

export interface BitmapSettings {
  host: string;
  /** 0 takes a free one. */
  port: number;
  /** Absolute. */
  directory: string;
  token?: string;
  /** Failed authentications a minute and address that get a 401; 0: all of them. */
  maxAuthFailures: number;
  /** Proxies whose `X-Forwarded-For` is believed. */
  trustedProxies: readonly string[];
  bodyLimit: number;
  /** How long a query may take, in milliseconds. */
  queryTimeoutMs: number;
  /** How many threads count what takes long. */
  threads: number;
}

/**
 * What the server is started with.
 *
 * Without a token it is served to this machine only, whatever address the board listens on.
 */
export function bitmapSettings(env: PartEnvironment<'bitmap'>): BitmapSettings {
  const { BITMAP_TOKEN: token } = env;
  const host = token !== undefined || isLoopbackHost(env.BOARD_HOST) ? env.BOARD_HOST : '127.0.0.1';
  return {
    host,
    port: env.BITMAP_PORT,
    directory: join(resolve(env.BOARD_DATA_DIR), 'bitmap'),
    token,
    maxAuthFailures: env.RATE_LIMIT_AUTH_FAILURES,
    trustedProxies: env.BOARD_TRUSTED_PROXIES,
    bodyLimit: env.BITMAP_BODY_LIMIT_BYTES,
    queryTimeoutMs: env.BITMAP_QUERY_TIMEOUT_MS,
    threads: env.BITMAP_THREADS ?? availableParallelism(),
  };
}

import type { Log } from '../log/log';

/** Closes something that was opened. */
export type Closer = () => Promise<void>;

/** Runs every closer, the last opened first, even when one fails. */
export async function closeAll(closers: Closer[], log: Log): Promise<void> {
  for (const close of [...closers].reverse()) {
    await close().catch((error: unknown) => log.error({ err: error }, 'close failed'));
  }
}

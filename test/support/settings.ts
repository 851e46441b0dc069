import { resolve, sep } from 'node:path';

const checkout = resolve(__dirname, '..', '..');

/** A sandbox has a `/tmp` and a `/dev` of its own: agents of a checkout that is there are to be shown in it. */
const hidden = ['/tmp', '/var/tmp', '/dev'].some((path) => checkout.startsWith(path + sep));

/** Settings of every service that tests start: open, without rate limits, and quick to notice a loss. */
export const testSettings = {
  BOARD_AUTH_ENABLED: 'false',
  BOARD_HEARTBEAT_TIMEOUT_MS: '2000',
  BOARD_STOP_GRACE_MS: '500',
  BOARD_DRAIN_MS: '0',
  ...(hidden ? { BOARD_SANDBOX_READ_PATHS: checkout } : {}),
  RATE_LIMIT_GLOBAL: '0',
  RATE_LIMIT_READ: '0',
  RATE_LIMIT_WRITE: '0',
  RATE_LIMIT_UPLOAD: '0',
  RATE_LIMIT_ARTIFACTS: '0',
  RATE_LIMIT_AUTH: '0',
  RATE_LIMIT_AUTH_FAILURES: '0',
};

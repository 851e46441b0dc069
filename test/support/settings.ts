/** Settings of every service that tests start: open, without rate limits, and quick to notice a loss. */
export const testSettings = {
  BOARD_AUTH_ENABLED: 'false',
  BOARD_HEARTBEAT_TIMEOUT_MS: '2000',
  BOARD_STOP_GRACE_MS: '500',
  BOARD_DRAIN_MS: '0',
  RATE_LIMIT_GLOBAL: '0',
  RATE_LIMIT_READ: '0',
  RATE_LIMIT_WRITE: '0',
  RATE_LIMIT_UPLOAD: '0',
  RATE_LIMIT_ARTIFACTS: '0',
  RATE_LIMIT_AUTH: '0',
  RATE_LIMIT_AUTH_FAILURES: '0',
};

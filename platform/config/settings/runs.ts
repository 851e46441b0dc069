import { z } from 'zod';
import {
  command,
  directories,
  flag,
  hostPort,
  integer,
  listenAddress,
  milliseconds,
  optionalText,
  signatureKey,
} from './kinds';

/** How runs are admitted, retried and ended. */
export const runSettings = {
  BOARD_MAX_RUNS: integer(50, { min: 1, max: 10_000 }).describe(
    'Runs at a time; further launches are queued; default of the setting `admission.limits.global.runs`',
  ),
  BOARD_RUN_RETRIES: integer(1, { min: 0, max: 3 }).describe(
    'New attempts after a failure that may pass, unless the routing rules state another number',
  ),
  BOARD_RETRY_BACKOFF_MS: milliseconds(1_000).describe('Wait before the first of them; doubles up to 30 s'),
  BOARD_RUN_TIMEOUT_MS: milliseconds(4 * 3_600_000).describe(
    'Longest time that an agent may run; default of the setting `agents.timeoutMinutes`',
  ),
  BOARD_RUN_OUTPUT_LIMIT_BYTES: integer(10_485_760, { min: 1024, max: 1_073_741_824, unit: 'bytes' }).describe(
    'Stored output of one run; further output is counted and dropped',
  ),
  BOARD_ARTIFACT_RETENTION_MS: milliseconds(2_592_000_000, 1, 315_360_000_000).describe(
    'How long the content of output artifacts is retained',
  ),
  BOARD_MODELS: optionalText('JSON file').describe(
    'Catalog of the models that decision reviews may ask, without which people answer in them, and of the one of `BOARD_SEARCH_MODEL`',
  ),
  BOARD_SEARCH_MODEL: optionalText('model').describe(
    'Id or alias of the embedding model in `BOARD_MODELS` that semantic search asks; without it there is none',
  ),
  BOARD_HEARTBEAT_TIMEOUT_MS: milliseconds(10_000).describe('How long a silent worker counts as alive'),
};

/** What a worker does on its host. */
export const workerSettings = {
  BOARD_HOST_ID: z
    .string()
    .regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/)
    .optional()
    .meta({ form: 'letters, digits and `._-`' })
    .describe(
      "Name of this host's task queue, `host/<id>`; without it one is made once and stored in the data directory",
    ),
  BOARD_WORKER_BUILD_ID: z
    .string()
    .regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/)
    .optional()
    .meta({ form: 'letters, digits and `._-`' })
    .describe(
      'Version of the code of this worker, such as a commit: Temporal then moves workflows from one version to the next only when an operator makes the next one current ([upgrades.md](upgrades.md))',
    ),
  BOARD_WORKER_VERSIONING: z
    .enum(['auto-upgrade', 'pinned'])
    .default('auto-upgrade')
    .describe(
      'Of workers with a build id: whether a run moves to the version that is made current, or ends on the one that it began with ([upgrades.md](upgrades.md#pinned-runs))',
    ),
  BOARD_WORKER_METRICS_ADDRESS: listenAddress.describe(
    'Where one worker process serves its metrics for Prometheus, such as `127.0.0.1:9464`; it asks for no key ([metrics.md](metrics.md))',
  ),
  BOARD_WORKER_CONCURRENCY: integer(100, { min: 1, max: 1_000 }).describe(
    "Activities of one worker on its host's queue at a time",
  ),
  BOARD_STOP_GRACE_MS: milliseconds(5_000).describe('Time between SIGTERM and SIGKILL when an agent is stopped'),
  BOARD_DRAIN_MS: milliseconds(20_000, 0).describe(
    'How long a worker that shuts down waits for its agents; with `npm start` 0 unless it is set',
  ),
  BOARD_CHECKPOINT_INTERVAL_MS: milliseconds(10_000).describe(
    "Shortest time between two checkpoints of a run's worktree",
  ),
  BOARD_AGENT_USER: z
    .string()
    .regex(/^[a-z_][a-z0-9_.-]{0,31}\$?$|^\d{1,9}$/i, 'must be the name or number of a user')
    .optional()
    .meta({ form: 'name or number of a user' })
    .describe("User that agents run as, instead of the worker's, which has to be root"),
  BOARD_SANDBOX_API_ADDRESS: hostPort.describe(
    'Where agents that launch children or call tools reach the API from a sandbox, whatever its preset allows',
  ),
  BOARD_SANDBOX_READ_PATHS: directories.describe(
    'Directories of the host that every sandbox shows, read-only: where agents are installed that it would hide otherwise',
  ),
  BOARD_EDITOR_COMMAND: command.describe('Program that opens a worktree: `["code", "{path}"]`'),
  BOARD_WEBHOOK_SECRET: signatureKey.describe('Key of the signature that lifecycle hooks are called with'),
  BOARD_WEBHOOK_ALLOW_PRIVATE: flag(false).describe('Hooks may call private networks'),
  BOARD_TOOL_BRIDGE_URL: z
    .url({ protocol: /^https?$/ })
    .default('http://127.0.0.1:3001')
    .meta({ form: 'URL' })
    .describe('Address of the API as the agents of this host reach it, for calls of tools'),
  BOARD_FORGE_ALLOW_PRIVATE: flag(false).describe('Forges may be on private networks, and without TLS'),
  BOARD_TOOL_SERVER_ALLOW_PRIVATE: flag(false).describe('Tool servers may be on private networks, and without TLS'),
};

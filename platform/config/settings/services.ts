import { z } from 'zod';
import { callerKey, userTokens } from '../api-keys';
import {
  ed25519PublicKey,
  flag,
  httpOrigin,
  integer,
  milliseconds,
  namedDirectories,
  names,
  optionalText,
  port,
  signatureKey,
  text,
  webhookUrls,
} from './kinds';

export const bitmapSettings = {
  BITMAP_PORT: port(10_101).describe('Its port'),
  BITMAP_TOKEN: callerKey
    .optional()
    .describe('Bearer token that its callers need; without one it listens on a loopback address only'),
  BITMAP_BODY_LIMIT_BYTES: integer(268_435_456, { min: 1024, max: 1_073_741_824, unit: 'bytes' }).describe(
    'Largest body that it accepts',
  ),
  BITMAP_QUERY_TIMEOUT_MS: milliseconds(30_000).describe('How long a query of it may take'),
  BITMAP_THREADS: z.coerce
    .number()
    .int()
    .min(0)
    .max(256)
    .optional()
    .describe('Threads for counts that take long, 0: none; without it one a processor'),
};

export const workflowRunSettings = {
  WORKFLOW_RUNS_PORT: port(3002).describe('Its port'),
  WORKFLOW_RUNS_JWT_PUBLIC_KEY: ed25519PublicKey.describe("Ed25519 key that callers' tokens are verified with"),
  WORKFLOW_RUNS_JWT_ISSUER: text('name')
    .default('runboard')
    .meta({ form: 'name' })
    .describe('Issuer that those tokens must have'),
  WORKFLOW_RUNS_USERS: names.describe('Users who may call it; every other call is refused'),
  WORKFLOW_RUNS_CONCURRENCY: integer(5, { min: 1, max: 1000 }).describe(
    'Workflow runs that start or work at a time; further ones are queued. Those that wait for people or a time, or are paused, do not count',
  ),
  WORKFLOW_RUNS_MAX_OPEN: integer(1_000, { min: 1, max: 10_000 }).describe(
    'Workflow runs that have not ended, queued ones included; further ones are refused with 429. Exact in one process; several on one database may exceed it',
  ),
  WORKFLOW_RUNS_MAX_HISTORY_EVENTS: integer(4_000, { min: 100, max: 8_000 }).describe(
    'Events in the Temporal history of a workflow run after which it continues as new',
  ),
  WORKFLOW_RUNS_MODELS: optionalText('JSON file').describe('Catalog of models and where they are reached'),
  WORKFLOW_RUNS_SANDBOX_PRESETS: optionalText('JSON file').describe(
    'Sandbox presets that commands of workflow runs are started with, the first unless a node names another; without it commands are refused',
  ),
  WORKFLOW_RUNS_REPOSITORIES: namedDirectories.describe(
    'Repositories on its host that workspaces of workflow runs may begin with',
  ),
  WORKFLOW_RUNS_WORKSPACE_RETENTION_MS: milliseconds(604_800_000, 1, 31_536_000_000).describe(
    'How long the workspace of a workflow run stays on its host after its end',
  ),
  WORKFLOW_RUNS_DRY_RUN: flag(false).describe('Models are not called: answers are synthetic'),
  WORKFLOW_RUNS_MODEL_TEST_MS: milliseconds(30_000).describe('How long a test of a model may take'),
  WORKFLOW_RUNS_PUBLIC_URL: httpOrigin.describe(
    'Where it is reached from outside, for the URLs of webhooks; the address of the request without it',
  ),
  WORKFLOW_RUNS_PREVIEW_PORT: z.coerce
    .number()
    .int()
    .min(0)
    .max(65_535)
    .optional()
    .describe(
      'Port of 127.0.0.1 where previews of workflow runs are reached, 0: a free one; without it previews are refused',
    ),
  WORKFLOW_RUNS_BOARD_URL: httpOrigin.describe(
    'The board that launches the agents of workflow runs; without it they are refused',
  ),
  WORKFLOW_RUNS_BOARD_TOKEN: callerKey
    .optional()
    .describe(
      'API token of the board for those launches, with the permissions `agent:read`, `agent:write`, `task:read` and `task:write`; none for a board without authentication',
    ),
  WORKFLOW_RUNS_PING_MS: milliseconds(15_000).describe('How long an event stream is silent before it sends a ping'),
};

export const plantSettings = {
  PLANTS_PORT: port(3003).describe('Its port'),
  PLANTS_TOKENS: userTokens.describe('Users who may call it, with their tokens'),
  PLANTS_WEBHOOK_URLS: webhookUrls.describe('Receivers of new plants'),
  PLANTS_WEBHOOK_SECRET: signatureKey.describe('Key of the signature that receivers are called with'),
  PLANTS_WEBHOOK_ALLOW_PRIVATE: flag(false).describe('Receivers may be on private networks'),
};

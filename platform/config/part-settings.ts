import { isSystemVariable } from '../processes/environment/base-environment';
import { type Environment, environment } from './env';

const everyPart = ['BOARD_DATA_DIR', 'LOG_LEVEL', 'NODE_ENV'] as const;
const stores = ['MONGODB_URL', 'MONGODB_PASSWORD', 'BOARD_STORE_WAIT_MS', 'BOARD_STORE_MAX_MB'] as const;
/** What credentials are sealed with that the API takes and workers use. */
const credentials = ['BOARD_CREDENTIAL_KEY'] as const;
const disk = ['BOARD_DISK_MIN_FREE_MB'] as const;
const temporal = [
  'TEMPORAL_ADDRESS',
  'TEMPORAL_HTTP_ADDRESS',
  'TEMPORAL_NAMESPACE',
  'TEMPORAL_API_KEY',
  'TEMPORAL_TLS',
  'TEMPORAL_TLS_CA_FILE',
  'TEMPORAL_TLS_CERT_FILE',
  'TEMPORAL_TLS_KEY_FILE',
  'TEMPORAL_TLS_SERVER_NAME',
] as const;
/** How workflows run. */
const workflows = ['TEMPORAL_CALL_STACKS'] as const;
/** Where spans are sent. */
const traces = [
  'OTEL_EXPORTER_OTLP_ENDPOINT',
  'OTEL_EXPORTER_OTLP_HEADERS',
  'OTEL_TRACES_SAMPLER_ARG',
  'OTEL_BSP_SCHEDULE_DELAY',
] as const;
/** How runs are made, which the API decides and workers do. */
const runs = [
  'BOARD_MAX_RUNS',
  'BOARD_RUN_RETRIES',
  'BOARD_RETRY_BACKOFF_MS',
  'BOARD_RUN_TIMEOUT_MS',
  'BOARD_ARTIFACT_RETENTION_MS',
  'BOARD_HEARTBEAT_TIMEOUT_MS',
  'BOARD_MODELS',
] as const;

/**
 * The settings that each part reads. It gets no others: a secret that it has no use for cannot leak from it. Parts have no
 * other type of environment, so that one that reads a further setting does not compile until it is named here.
 */
export const partSettings = {
  api: [
    ...everyPart,
    ...traces,
    ...stores,
    ...credentials,
    ...disk,
    ...temporal,
    ...runs,
    'BOARD_HOST',
    'BOARD_PORT',
    'BOARD_AUTH_ENABLED',
    'BOARD_SKILL_ROOTS',
    'BOARD_AUTH_LOCALHOST_BYPASS',
    'BOARD_AUTH_LOCALHOST_ROLE',
    'BOARD_ADMIN_KEY',
    'BOARD_API_KEYS',
    'BOARD_ALLOWED_ORIGINS',
    'BOARD_PUBLIC_URL',
    'BOARD_PAGE',
    'BOARD_COMPAT',
    'BOARD_OIDC_ISSUER',
    'BOARD_OIDC_CLIENT_ID',
    'BOARD_OIDC_CLIENT_SECRET',
    'BOARD_OIDC_SCOPES',
    'BOARD_OIDC_GROUPS_CLAIM',
    'BOARD_OIDC_ROLE_GROUPS',
    'BOARD_OIDC_DEFAULT_ROLE',
    'BOARD_OIDC_ALLOWED_DOMAINS',
    'BOARD_DOCS_DIR',
    'BOARD_SEARCH_MODEL',
    'BOARD_MAX_WATCHERS',
    'BOARD_WATCHERS_PER_ADDRESS',
    'BOARD_TRUSTED_PROXIES',
    // Addresses of forges, tool servers and team chats are refused that workers would not call.
    'BOARD_WEBHOOK_ALLOW_PRIVATE',
    'BOARD_FORGE_ALLOW_PRIVATE',
    'BOARD_TOOL_SERVER_ALLOW_PRIVATE',
    'RATE_LIMIT_AUTH',
    'RATE_LIMIT_AUTH_FAILURES',
    'RATE_LIMIT_GLOBAL',
    'RATE_LIMIT_READ',
    'RATE_LIMIT_WRITE',
    'RATE_LIMIT_UPLOAD',
    'RATE_LIMIT_ARTIFACTS',
  ],
  worker: [
    ...everyPart,
    ...traces,
    ...stores,
    ...credentials,
    ...disk,
    ...temporal,
    ...workflows,
    ...runs,
    'BOARD_AGENT_USER',
    'BOARD_DOCS_DIR',
    'BOARD_SKILL_ROOTS',
    'BOARD_SANDBOX_API_ADDRESS',
    'BOARD_SANDBOX_READ_PATHS',
    'BOARD_TOOL_BRIDGE_URL',
    'BOARD_HOST_ID',
    'BOARD_EDITOR_COMMAND',
    'BOARD_RUN_OUTPUT_LIMIT_BYTES',
    'BOARD_STOP_GRACE_MS',
    'BOARD_DRAIN_MS',
    'BOARD_CHECKPOINT_INTERVAL_MS',
    'BOARD_WORKER_BUILD_ID',
    'BOARD_WORKER_VERSIONING',
    'BOARD_WORKER_METRICS_ADDRESS',
    'BOARD_WORKER_CONCURRENCY',
    // Hooks are called by an activity.
    'BOARD_WEBHOOK_SECRET',
    'BOARD_WEBHOOK_ALLOW_PRIVATE',
    'BOARD_FORGE_ALLOW_PRIVATE',
    'BOARD_TOOL_SERVER_ALLOW_PRIVATE',
  ],
  bitmap: [
    ...everyPart,
    ...traces,
    'BOARD_HOST',
    'BOARD_TRUSTED_PROXIES',
    'RATE_LIMIT_AUTH_FAILURES',
    'BITMAP_PORT',
    'BITMAP_TOKEN',
    'BITMAP_BODY_LIMIT_BYTES',
    'BITMAP_QUERY_TIMEOUT_MS',
    'BITMAP_THREADS',
  ],
  plants: [
    ...everyPart,
    ...traces,
    ...stores,
    ...temporal,
    ...workflows,
    'BOARD_HOST',
    'BOARD_TRUSTED_PROXIES',
    'RATE_LIMIT_AUTH_FAILURES',
    'PLANTS_PORT',
    'PLANTS_TOKENS',
    'PLANTS_WEBHOOK_URLS',
    'PLANTS_WEBHOOK_SECRET',
    'PLANTS_WEBHOOK_ALLOW_PRIVATE',
  ],
  'workflow-runs': [
    ...everyPart,
    ...traces,
    ...stores,
    ...temporal,
    ...workflows,
    'BOARD_HOST',
    'BOARD_TRUSTED_PROXIES',
    'RATE_LIMIT_AUTH_FAILURES',
    'BOARD_DRAIN_MS',
    'WORKFLOW_RUNS_PORT',
    'WORKFLOW_RUNS_JWT_PUBLIC_KEY',
    'WORKFLOW_RUNS_JWT_ISSUER',
    'WORKFLOW_RUNS_USERS',
    'WORKFLOW_RUNS_CONCURRENCY',
    'WORKFLOW_RUNS_MAX_OPEN',
    'WORKFLOW_RUNS_MAX_HISTORY_EVENTS',
    'WORKFLOW_RUNS_MODELS',
    'WORKFLOW_RUNS_SANDBOX_PRESETS',
    'WORKFLOW_RUNS_REPOSITORIES',
    'WORKFLOW_RUNS_WORKSPACE_RETENTION_MS',
    'WORKFLOW_RUNS_DRY_RUN',
    'WORKFLOW_RUNS_MODEL_TEST_MS',
    'WORKFLOW_RUNS_PUBLIC_URL',
    'WORKFLOW_RUNS_PREVIEW_PORT',
    'WORKFLOW_RUNS_BOARD_URL',
    'WORKFLOW_RUNS_BOARD_TOKEN',
    'WORKFLOW_RUNS_PING_MS',
  ],
} as const satisfies Record<string, readonly (keyof Environment)[]>;

export type PartName = keyof typeof partSettings;

/** The settings of one part. */
export type PartEnvironment<Part extends PartName> = Pick<Environment, (typeof partSettings)[Part][number]>;
export type ApiEnvironment = PartEnvironment<'api'>;
export type WorkerEnvironment = PartEnvironment<'worker'>;

/**
 * Parts that read variables whose names are data: the keys of agents (`environmentKeys`) and of model providers
 * (`api_key_env`). They get every variable that is no setting of the service.
 */
const readsOtherVariables: ReadonlySet<PartName> = new Set(['worker', 'workflow-runs']);

/** What the API verifies webhooks of forges with, under names that administrators choose (contracts/integrations/forge.ts). */
const isWebhookSecret = (name: string): boolean =>
  /^(?:GITHUB|GH|GITLAB|FORGE)_(?:[A-Z0-9_]+_)?WEBHOOK_SECRET(?:_[A-Z0-9_]+)?$/.test(name);

/** What the API asks the embedding model of searches with, under names that administrators choose (docs/use/knowledge/search.md). */
export const isEmbeddingKey = (name: string): boolean =>
  /^(?:[A-Z0-9]+_){0,8}EMBEDDING_(?:[A-Z0-9]+_){0,8}KEY$/.test(name) && !(name in environment.shape);

/** Of an environment what a part is started with: what it needs to run at all, the settings that it reads, nothing else. */
export function environmentOfPart(part: PartName, source: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const own: ReadonlySet<string> = new Set(partSettings[part]);
  const isGiven = (name: string): boolean => {
    if (
      own.has(name) ||
      isSystemVariable(name) ||
      (part === 'api' && (isWebhookSecret(name) || isEmbeddingKey(name)))
    ) {
      return true;
    }
    return readsOtherVariables.has(part) && !(name in environment.shape);
  };
  return Object.fromEntries(Object.entries(source).filter(([name]) => isGiven(name)));
}

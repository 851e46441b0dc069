import { z } from 'zod';
import { withSecretFiles } from './secret-files';
import { apiKeys, callerKey, roles, sharedKeyProblems, userTokens } from './api-keys';

export { roles, type ApiKey, type Role } from './api-keys';

/** The text of a duration setting in milliseconds. */
const milliseconds = (fallback: number) => z.coerce.number().int().min(1).max(86_400_000).default(fallback);
const port = (fallback: number) => z.coerce.number().int().min(0).max(65_535).default(fallback);
const perMinute = (fallback: number) => z.coerce.number().int().min(0).max(1_000_000).default(fallback);
const flag = (fallback: boolean) =>
  z
    .enum(['true', 'false', '1', '0'])
    .default(fallback ? 'true' : 'false')
    .transform((text) => text === 'true' || text === '1');

/** Comma-separated names. */
const names = z
  .string()
  .default('')
  .transform((text) =>
    text
      .split(',')
      .map((name) => name.trim())
      .filter(Boolean),
  );

/** Comma-separated URLs that are called over HTTP. */
const webhookUrls = z
  .string()
  .default('')
  .transform((text, context): string[] =>
    text
      .split(',')
      .map((url) => url.trim())
      .filter(Boolean)
      .filter((url, index) => {
        const { protocol, username, password } = URL.parse(url) ?? {};
        const sound = (protocol === 'https:' || protocol === 'http:') && !username && !password;
        if (!sound) context.addIssue({ code: 'custom', message: `entry ${index + 1} is not an http(s) URL` });
        return sound;
      }),
  );

/** A program with its arguments, as a JSON array of texts. */
const command = z.string().transform((text, context): string[] => {
  try {
    return z.array(z.string().min(1)).min(1).max(64).parse(JSON.parse(text));
  } catch {
    context.addIssue({ code: 'custom', message: 'must be a JSON array of texts, e.g. ["code", "{path}"]' });
    return z.NEVER;
  }
});

/** Every environment variable the service reads. The configuration table of README.md is checked against it. */
export const environment = z.object({
  BOARD_HOST: z.string().min(1).default('127.0.0.1'),
  BOARD_PORT: port(3001),
  BOARD_DATA_DIR: z.string().min(1).default('.board'),
  /** How long a store operation waits while another process has the embedded database locked. */
  BOARD_STORE_WAIT_MS: milliseconds(10_000),
  /** How large the embedded database may grow; 0: as large as its disk allows. */
  BOARD_STORE_MAX_MB: z.coerce.number().int().min(0).max(1_048_576).default(0),
  /** Free space of the data directory's disk below which the service is not ready. */
  BOARD_DISK_MIN_FREE_MB: z.coerce.number().int().min(0).max(1_048_576).default(100),
  BOARD_HOST_ID: z
    .string()
    .regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/)
    .optional(),
  BOARD_AUTH_ENABLED: flag(true),
  BOARD_AUTH_LOCALHOST_BYPASS: flag(false),
  BOARD_AUTH_LOCALHOST_ROLE: z.enum(roles).default('read-only'),
  BOARD_ADMIN_KEY: callerKey.optional(),
  BOARD_API_KEYS: apiKeys,
  /** Name or number of the user that agents run as, instead of the worker's. */
  BOARD_AGENT_USER: z
    .string()
    .regex(/^[a-z_][a-z0-9_.-]{0,31}\$?$|^\d{1,9}$/i, 'must be the name or number of a user')
    .optional(),
  BOARD_ALLOWED_ORIGINS: names,
  BOARD_MAX_WATCHERS: z.coerce.number().int().min(1).max(100_000).default(1_000),
  BOARD_WATCHERS_PER_ADDRESS: z.coerce.number().int().min(1).max(100_000).default(200),
  BOARD_EDITOR_COMMAND: command.optional(),
  BOARD_MAX_RUNS: z.coerce.number().int().min(1).max(10_000).default(50),
  BOARD_RUN_RETRIES: z.coerce.number().int().min(0).max(3).default(1),
  BOARD_RETRY_BACKOFF_MS: milliseconds(1_000),
  BOARD_RUN_TIMEOUT_MS: milliseconds(4 * 3_600_000),
  BOARD_RUN_OUTPUT_LIMIT_BYTES: z.coerce.number().int().min(1024).max(1_073_741_824).default(10_485_760),
  BOARD_ARTIFACT_RETENTION_MS: z.coerce.number().int().min(1).max(315_360_000_000).default(2_592_000_000),
  BOARD_STOP_GRACE_MS: milliseconds(5_000),
  BOARD_DRAIN_MS: z.coerce.number().int().min(0).max(86_400_000).default(20_000),
  BOARD_HEARTBEAT_TIMEOUT_MS: milliseconds(10_000),
  BOARD_CHECKPOINT_INTERVAL_MS: milliseconds(10_000),
  BOARD_WEBHOOK_SECRET: z.string().min(16).optional(),
  BOARD_WEBHOOK_ALLOW_PRIVATE: flag(false),
  BOARD_WORKER_CONCURRENCY: z.coerce.number().int().min(1).max(1_000).default(100),
  BITMAP_PORT: port(10_101),
  BITMAP_TOKEN: callerKey.optional(),
  BITMAP_BODY_LIMIT_BYTES: z.coerce.number().int().min(1024).max(1_073_741_824).default(268_435_456),
  BITMAP_THREADS: z.coerce.number().int().min(0).max(256).optional(),
  MONGODB_URL: z
    .string()
    .regex(/^mongodb(\+srv)?:\/\//, 'must start with mongodb:// or mongodb+srv://')
    .optional(),
  /** The password of the user that `MONGODB_URL` names, where it is not part of it. */
  MONGODB_PASSWORD: z.string().min(1).optional(),
  TEMPORAL_ADDRESS: z
    .string()
    .regex(/^[^\s/:]+:\d{1,5}$/, 'must be host:port')
    .optional(),
  TEMPORAL_HTTP_ADDRESS: z
    .string()
    .regex(/^[^\s/:]+:\d{1,5}$/, 'must be host:port')
    .optional(),
  TEMPORAL_NAMESPACE: z.string().min(1).default('default'),
  TEMPORAL_API_KEY: z.string().min(1).optional(),
  TEMPORAL_TLS: flag(false),
  TEMPORAL_TLS_CA_FILE: z.string().min(1).optional(),
  TEMPORAL_TLS_CERT_FILE: z.string().min(1).optional(),
  TEMPORAL_TLS_KEY_FILE: z.string().min(1).optional(),
  TEMPORAL_TLS_SERVER_NAME: z.string().min(1).optional(),
  TEMPORAL_UI_PORT: z.coerce.number().int().min(0).max(65_535).optional(),
  WORKFLOW_RUNS_PORT: port(3002),
  /** Ed25519 public key that callers' tokens are verified with: PEM, or base64 of PEM. */
  WORKFLOW_RUNS_JWT_PUBLIC_KEY: z.string().min(1).optional(),
  WORKFLOW_RUNS_JWT_ISSUER: z.string().min(1).default('runboard'),
  /** Who may use the workflow-run service; nobody unless named. */
  WORKFLOW_RUNS_USERS: names,
  /** Runs that are starting or running at a time; further ones are queued. */
  WORKFLOW_RUNS_CONCURRENCY: z.coerce.number().int().min(1).max(1000).default(5),
  /** JSON file with the catalog of models and where they are reached. */
  WORKFLOW_RUNS_MODELS: z.string().min(1).optional(),
  /** Models are not called: answers are synthetic. */
  WORKFLOW_RUNS_DRY_RUN: flag(false),
  /** How long a test of a model may take. */
  WORKFLOW_RUNS_MODEL_TEST_MS: milliseconds(30_000),
  /** How long an event stream is silent before it says that it is still there. */
  WORKFLOW_RUNS_PING_MS: milliseconds(15_000),
  PLANTS_PORT: port(3003),
  PLANTS_TOKENS: userTokens,
  PLANTS_WEBHOOK_URLS: webhookUrls,
  PLANTS_WEBHOOK_SECRET: z.string().min(16).optional(),
  PLANTS_WEBHOOK_ALLOW_PRIVATE: flag(false),
  RATE_LIMIT_GLOBAL: perMinute(300),
  RATE_LIMIT_READ: perMinute(300),
  RATE_LIMIT_WRITE: perMinute(60),
  RATE_LIMIT_UPLOAD: perMinute(20),
  RATE_LIMIT_ARTIFACTS: perMinute(120),
  RATE_LIMIT_AUTH_FAILURES: perMinute(30),
  LOG_LEVEL: z.enum(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent']).default('info'),
  NODE_ENV: z.enum(['development', 'production', 'test']).default('development'),
});

export type Environment = z.infer<typeof environment>;

/** Thrown with every problem of the environment at once. */
export class EnvironmentError extends Error {
  override readonly name = 'EnvironmentError';

  constructor(readonly problems: string[]) {
    super(
      `The environment has ${problems.length === 1 ? 'a problem' : `${problems.length} problems`}:\n${problems.map((p) => `  - ${p}`).join('\n')}`,
    );
  }
}

/**
 * Validates the environment once, at start. Empty values count as absent; unknown `BOARD_*` names are problems, so
 * that a misspelt setting is not silently ignored. Secrets may be given as files (`<NAME>_FILE`).
 *
 * @param names the settings that are read; the others are left at their defaults, whatever is set
 * @throws EnvironmentError listing every problem
 */
export function readEnvironment(source: NodeJS.ProcessEnv, names = everySetting): Environment {
  const { environment: filled, problems: fileProblems } = withSecretFiles(source, names);
  const set = Object.entries(filled).filter(([, value]) => value !== undefined && value !== '');
  const unknown = set.map(([name]) => name).filter((name) => name.startsWith('BOARD_') && !(name in environment.shape));
  const parsed = environment.safeParse(Object.fromEntries(set.filter(([name]) => names.includes(name))));
  const problems = [
    ...fileProblems,
    ...(parsed.success ? [] : parsed.error.issues.map((issue) => `${issue.path.join('.')}: ${issue.message}`)),
    ...unknown.map((name) => `${name}: unknown setting`),
    ...(parsed.success ? sharedKeyProblems(parsed.data) : []),
  ];
  if (
    parsed.success &&
    names.includes('BOARD_ADMIN_KEY') &&
    parsed.data.BOARD_AUTH_ENABLED &&
    !parsed.data.BOARD_ADMIN_KEY &&
    !parsed.data.BOARD_AUTH_LOCALHOST_BYPASS
  ) {
    problems.push('BOARD_ADMIN_KEY: required while BOARD_AUTH_ENABLED is true (or set BOARD_AUTH_ENABLED=false)');
  }
  if (!parsed.success || problems.length > 0) throw new EnvironmentError([...new Set(problems)]);
  return { ...parsed.data, MONGODB_URL: withPassword(parsed.data) };
}

const everySetting: readonly string[] = Object.keys(environment.shape);

/** The URL with the password that is given beside it. */
function withPassword({ MONGODB_URL: url, MONGODB_PASSWORD: password }: z.infer<typeof environment>) {
  if (url === undefined || password === undefined) return url;
  // Hosts may be several, separated by commas, which no URL parser takes.
  return url.replace(
    /^(mongodb(?:\+srv)?:\/\/[^:@/]+)@/,
    (_all, user: string) => `${user}:${encodeURIComponent(password)}@`,
  );
}

import type { Environment } from './env';

const single = [
  'BOARD_ADMIN_KEY',
  'BOARD_OIDC_CLIENT_SECRET',
  'BOARD_WEBHOOK_SECRET',
  'BITMAP_TOKEN',
  'MONGODB_PASSWORD',
  'PLANTS_WEBHOOK_SECRET',
  'TEMPORAL_API_KEY',
  'WORKFLOW_RUNS_BOARD_TOKEN',
] as const;

type Secrets = Pick<
  Environment,
  (typeof single)[number] | 'BOARD_API_KEYS' | 'MONGODB_URL' | 'OTEL_EXPORTER_OTLP_HEADERS' | 'PLANTS_TOKENS'
>;

/** Every secret among the settings of a process, as it may turn up in a text. */
export function secretValues(env: Partial<Secrets>): string[] {
  const { BOARD_API_KEYS: keys = [], PLANTS_TOKENS: tokens = [] } = env;
  const values = single.map((name) => env[name]).filter((value) => value !== undefined);
  return [
    ...values,
    ...keys.map(({ key }) => key),
    ...tokens.map(({ token }) => token),
    ...passwordIn(env.MONGODB_URL),
    ...Object.values(env.OTEL_EXPORTER_OTLP_HEADERS ?? {}),
  ];
}

/** The password of a database's URL, encoded and decoded; hosts may be several, which no URL parser takes. */
function passwordIn(url = ''): string[] {
  const password = /^[a-z+]+:\/\/[^:@/]*:([^@/]+)@/.exec(url)?.[1];
  if (password === undefined) {
    return [];
  }
  try {
    return [password, decodeURIComponent(password)];
  } catch {
    return [password];
  }
}

import type { Environment } from './env';

type Secrets = Pick<
  Environment,
  | 'BOARD_ADMIN_KEY'
  | 'BOARD_API_KEYS'
  | 'BOARD_WEBHOOK_SECRET'
  | 'BITMAP_TOKEN'
  | 'MONGODB_URL'
  | 'MONGODB_PASSWORD'
  | 'TEMPORAL_API_KEY'
  | 'PLANTS_TOKENS'
  | 'PLANTS_WEBHOOK_SECRET'
>;

/** Every secret among the settings of a process, as it may turn up in a text. */
export function secretValues(env: Partial<Secrets>): string[] {
  const { BOARD_API_KEYS: keys = [], PLANTS_TOKENS: tokens = [], MONGODB_URL: url, ...rest } = env;
  const single = [
    rest.BOARD_ADMIN_KEY,
    rest.BOARD_WEBHOOK_SECRET,
    rest.BITMAP_TOKEN,
    rest.PLANTS_WEBHOOK_SECRET,
    rest.MONGODB_PASSWORD,
    rest.TEMPORAL_API_KEY,
  ];
  const listed = [...keys.map(({ key }) => key), ...tokens.map(({ token }) => token)];
  return [...single.filter((value) => value !== undefined), ...listed, ...passwordIn(url)];
}

/** The password of a database's URL, as it stands there and as it is; hosts may be several, which no URL parser takes. */
function passwordIn(url = ''): string[] {
  const password = /^[a-z+]+:\/\/[^:@/]*:([^@/]+)@/.exec(url)?.[1];
  if (password === undefined) return [];
  try {
    return [password, decodeURIComponent(password)];
  } catch {
    return [password];
  }
}

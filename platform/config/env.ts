import { z } from 'zod';
import { sharedKeyProblems } from './api-keys';
import { withSecretFiles } from './secret-files';
import { settingGroups } from './settings/groups';
import { signInProblems } from './settings/sign-in';

export { type ApiKey, type Role, roles } from './api-keys';

/** Every environment variable that is read; `docs/operate/configuration.md` is generated from it. */
export const environment = z.object({
  ...settingGroups.Start,
  ...settingGroups.API,
  ...settingGroups['OpenID Connect'],
  ...settingGroups['Rate limits'],
  ...settingGroups.Stores,
  ...settingGroups.Temporal,
  ...settingGroups.Runs,
  ...settingGroups.Workers,
  ...settingGroups['Every process'],
  ...settingGroups.Traces,
  ...settingGroups['Bitmap index'],
  ...settingGroups['Workflow runs'],
  ...settingGroups['Plant store'],
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
 * Validates the environment once, at start. Empty values count as absent; unknown `BOARD_*` names are problems, so that a
 * misspelt setting is not silently ignored. Secrets may come from files (`<NAME>_FILE`).
 *
 * @param names the settings that are read; the others have their defaults, whatever is set
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
    ...(parsed.success ? [...sharedKeyProblems(parsed.data), ...signInProblems(parsed.data)] : []),
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
  if (parsed.success && parsed.data.BOARD_WORKER_VERSIONING === 'pinned' && !parsed.data.BOARD_WORKER_BUILD_ID) {
    problems.push('BOARD_WORKER_BUILD_ID: required while BOARD_WORKER_VERSIONING is pinned');
  }
  if (!parsed.success || problems.length > 0) {
    throw new EnvironmentError([...new Set(problems)]);
  }
  return { ...parsed.data, MONGODB_URL: withPassword(parsed.data) };
}

const everySetting: readonly string[] = Object.keys(environment.shape);

/** The URL with the password of its own setting. */
function withPassword({ MONGODB_URL: url, MONGODB_PASSWORD: password }: z.infer<typeof environment>) {
  if (url === undefined || password === undefined) {
    return url;
  }
  // Hosts may be several, separated by commas, which no URL parser takes.
  return url.replace(
    /^(mongodb(?:\+srv)?:\/\/[^:@/]+)@/,
    (_all, user: string) => `${user}:${encodeURIComponent(password)}@`,
  );
}

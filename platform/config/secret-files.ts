import { readFileSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';

/**
 * Settings that are secrets. Each may be set to the path of a file instead, `<NAME>_FILE`, and is removed from the environment
 * of a process once it is read.
 */
export const secretSettings = [
  'BOARD_ADMIN_KEY',
  'BOARD_API_KEYS',
  'BOARD_CREDENTIAL_KEY',
  'BOARD_OIDC_CLIENT_SECRET',
  'BOARD_WEBHOOK_SECRET',
  'MONGODB_URL',
  'MONGODB_PASSWORD',
  'TEMPORAL_API_KEY',
  'OTEL_EXPORTER_OTLP_HEADERS',
  'BITMAP_TOKEN',
  'PLANTS_TOKENS',
  'PLANTS_WEBHOOK_SECRET',
  'WORKFLOW_RUNS_BOARD_TOKEN',
] as const;

export const fileVariable = (setting: string): string => `${setting}_FILE`;

/** The setting whose file a variable names, or `undefined` for any other variable. */
export const settingOfFile = (variable: string): string | undefined =>
  secretSettings.find((setting) => fileVariable(setting) === variable);

/**
 * An environment with the contents of secret files instead of their paths. A line break at the end is not part of a secret.
 *
 * @param names of the settings that are read; files of others are not read
 * @returns what is wrong by variable, without any content
 */
export function withSecretFiles(
  source: NodeJS.ProcessEnv,
  names: readonly string[] = secretSettings,
): { environment: NodeJS.ProcessEnv; problems: string[] } {
  const environment = { ...source };
  const problems: string[] = [];
  for (const setting of secretSettings) {
    const variable = fileVariable(setting);
    const { [variable]: path } = environment;
    Reflect.deleteProperty(environment, variable);
    if (!path || !names.includes(setting)) {
      continue;
    }
    if (environment[setting]) {
      problems.push(`${variable}: ${setting} is set as well; keep one of the two`);
    } else {
      const read = readSecretFile(path);
      if ('problem' in read) {
        problems.push(`${variable}: ${read.problem}`);
      } else {
        environment[setting] = read.content;
      }
    }
  }
  return { environment, problems };
}

/** The content of a file that only its owner can read, or why it is not used. */
export function readSecretFile(path: string): { content: string } | { problem: string } {
  try {
    const { mode } = statSync(path);
    if ((mode & (isCredential(path) ? 0o007 : 0o077)) !== 0) {
      const octal = (mode & 0o777).toString(8).padStart(4, '0');
      return { problem: `${path} has the mode ${octal}: others than its owner can use it (chmod 600)` };
    }
    const content = readFileSync(path, 'utf8').replace(/\r?\n$/, '');
    return content === '' ? { problem: `${path} is empty` } : { content };
  } catch (error) {
    return { problem: `${path} cannot be read (${(error as NodeJS.ErrnoException).code ?? 'unknown error'})` };
  }
}

/** systemd lets a service's user read its credentials by an access list, which shows as a right of the group. */
function isCredential(path: string): boolean {
  const { CREDENTIALS_DIRECTORY: directory } = process.env;
  return directory !== undefined && directory !== '' && dirname(resolve(path)) === resolve(directory);
}

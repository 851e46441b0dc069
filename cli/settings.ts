import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { UsageError } from './failures';

/** Where the board is and how to sign in there. */
export interface Settings {
  url: string;
  /** Absent where the board needs none. */
  key?: string;
}

type Variables = Record<string, string | undefined>;

const defaultUrl = 'http://127.0.0.1:3001';

/** The file that `runboard login` writes; it holds a key, and is the user's alone. */
export const settingsFile = (environment: Variables): string =>
  join(environment.XDG_CONFIG_HOME || join(environment.HOME ?? homedir(), '.config'), 'runboard', 'cli.json');

async function storedSettings(environment: Variables): Promise<Partial<Settings>> {
  const file = settingsFile(environment);
  let text: string;
  try {
    text = await readFile(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') {
      return {};
    }
    throw error;
  }
  try {
    const { url, key } = JSON.parse(text) as Record<string, unknown>;
    return { ...(typeof url === 'string' ? { url } : {}), ...(typeof key === 'string' ? { key } : {}) };
  } catch {
    throw new UsageError(`${file} is no JSON: remove it, and sign in again with "runboard login".`);
  }
}

/** @throws UsageError for what is no address of a board */
export function checkedUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (!url || !['http:', 'https:'].includes(url.protocol) || url.username !== '' || url.search !== '') {
    throw new UsageError(`"${text}" is no address of a board, such as ${defaultUrl}.`);
  }
  return url.href.replace(/\/+$/, '');
}

/**
 * A key as a header can carry it. It is named by where it comes from: what is printed may be read by others.
 *
 * @throws UsageError
 */
export function checkedKey(key: string, source: string): string {
  if (/[^\t\x20-\x7e\x80-\xff]/.test(key.trim())) {
    throw new UsageError(`${source} is no key: it has a line break or another character that no header can have.`);
  }
  return key;
}

/** Whether an address is that of a board which is started on this machine with these variables. */
function isStartedHere(address: string, environment: Variables): boolean {
  const { protocol, hostname, port, pathname } = new URL(address);
  const isLocal = ['127.0.0.1', 'localhost', '[::1]'].includes(hostname);
  return protocol === 'http:' && isLocal && (port || '80') === (environment.BOARD_PORT || '3001') && pathname === '/';
}

/**
 * An option wins over the environment (`RUNBOARD_URL`, `RUNBOARD_KEY`), which wins over what `runboard login` stored. The stored
 * key goes to the board that it was stored for only. `BOARD_ADMIN_KEY`, which starts a board, goes to that on this machine only: to the port
 * of `BOARD_PORT`, since another one may be another user's.
 */
export async function readSettings(environment: Variables, url: string | undefined): Promise<Settings> {
  const stored = await storedSettings(environment);
  const address = checkedUrl(url ?? environment.RUNBOARD_URL ?? stored.url ?? defaultUrl);
  const keys: [source: string, key: string | undefined][] = [
    ['RUNBOARD_KEY', environment.RUNBOARD_KEY],
    [`The key in ${settingsFile(environment)}`, stored.url === address ? stored.key : undefined],
    ['BOARD_ADMIN_KEY', isStartedHere(address, environment) ? environment.BOARD_ADMIN_KEY : undefined],
  ];
  const [source, key] = keys.find(([, each]) => each !== undefined) ?? [];
  return { url: address, ...(key === undefined ? {} : { key: checkedKey(key, source ?? '') }) };
}

/** Replaces the stored settings as a whole. @returns the path of the file */
export async function storeSettings(environment: Variables, settings: Settings): Promise<string> {
  const file = settingsFile(environment);
  await mkdir(dirname(file), { recursive: true, mode: 0o700 });
  const written = `${file}.${process.pid}`;
  await writeFile(written, `${JSON.stringify(settings, undefined, 2)}\n`, { mode: 0o600 });
  await rename(written, file);
  return file;
}

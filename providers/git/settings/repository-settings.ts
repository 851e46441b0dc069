import { closeSync, constants, existsSync, fstatSync, openSync, readFileSync } from 'node:fs';
import { mkdir, readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { compact } from '../../../platform/json/compact';
import type { RunProgram } from '../../../platform/processes/programs/program-runner';
import { inGitSpan } from '../../../platform/tracing/git-commands';
import { isTracing } from '../../../platform/tracing/spans';
import { GitError } from '../git-error';
import { allowedOfOperator, allowedOfRepository, filterSettings, withoutPromisors } from './allowed';
import { parseSettings, remoteNames, renderSettings, type Setting } from './entries';
import { ensureFile, linkRepository, privateDirectory, replaceFile } from './private-directory';
import { recordLocation, verifyLocation } from './recorded-location';
import { removeOldest } from './remove-oldest';
import { locateRepository, type RepositoryLocation } from './repository-location';

/** What is recorded of a repository's settings when it is configured. */
interface Recorded {
  commonDir: string;
  readAt: string;
  settings: Setting[];
  /** Filters whose programs the operator lets run. */
  allowFilters: string[];
  /** Directories with further objects; absent in what earlier versions recorded. */
  alternates?: string[];
}

/** What is recorded, as far as others have to know. */
export interface RecordedSettings {
  remotes: string[];
  /** Filters that are allowed and that the operator's configuration does not name. */
  missingFilters: string[];
}

export interface ConfigureRequest {
  repositoryPath: string;
  /** Absent: as it was. */
  allowFilters?: readonly string[];
  /** Read the current configuration of the repository instead of what was read when it was configured. */
  reread?: boolean;
}

export interface SettingsOptions {
  settingsDir: string;
  timeoutMs: number;
  /** Repositories are only inspected: nothing is made in them, and the operator's settings are those that were read before. */
  inspecting?: { operatorSettings(): Promise<Setting[]> } | undefined;
}

/** The most of a file of settings that is read, in bytes. */
const readLimitBytes = 1_048_576;

/** Empty settings: what git is run with when it only parses a file. */
const withoutSettings = { GIT_CONFIG_NOSYSTEM: '1', GIT_CONFIG_GLOBAL: '/dev/null', GIT_DIR: '/dev/null' };

/**
 * The configuration that git is run with here. Git reads no file that an agent can write: it is given a directory of
 * ours instead of the repository's own (`GIT_COMMON_DIR`), which has links to its objects and references and a `config`
 * of ours, and a global file of ours. In them are the settings on the allow-list: the operator's as they were when this
 * process began, the repository's as they were when it was configured.
 */
export function createRepositorySettings(
  runProgram: RunProgram,
  { settingsDir, timeoutMs, inspecting }: SettingsOptions,
) {
  const operatorFile = join(settingsDir, 'operator.config');
  // Read before any agent runs; what they change from then on is not read.
  let operator = inspecting?.operatorSettings() ?? readOperator();
  operator.catch(() => undefined);
  const ready = new Map<string, Promise<string>>();
  const pinned = new Map<string, RepositoryLocation>();
  const parsed = new Map<string, Setting[]>();

  return {
    /** Where the repository of a directory is: where it was verified to be, whatever the directory has become. */
    place: (cwd: string): RepositoryLocation => pinned.get(cwd) ?? locateRepository(cwd),

    /** From now on, commands in this directory are about this repository. */
    pin(path: string, place: Omit<RepositoryLocation, 'workTree'>): void {
      pinned.delete(path);
      pinned.set(path, { ...place, workTree: path });
      removeOldest(pinned, maxPinned);
    },

    unpin: (path: string): boolean => pinned.delete(path),

    /** The variables that make git work on the repository of a directory, with our configuration. */
    async environment(cwd: string): Promise<Record<string, string>> {
      const { workTree, gitDir, commonDir } = this.place(cwd);
      verifyLocation(settingsDir, cwd, commonDir);
      const directory = await directoryOf(commonDir);
      return {
        GIT_CONFIG_NOSYSTEM: '1',
        GIT_CONFIG_GLOBAL: operatorFile,
        GIT_DIR: gitDir,
        GIT_COMMON_DIR: directory,
        ...(workTree === null ? { GIT_IMPLICIT_WORK_TREE: '0' } : { GIT_WORK_TREE: workTree }),
      };
    },

    /** The repository's own settings among those that git is run with in a directory. */
    async recorded(cwd: string): Promise<readonly Setting[]> {
      const { commonDir } = this.place(cwd);
      verifyLocation(settingsDir, cwd, commonDir);
      return (await recordedIn(await directoryOf(commonDir))).settings;
    },

    /** The directories with further objects that the repository had when it was configured. */
    alternatesOf: async (commonDir: string): Promise<string[]> =>
      (await recordedIn(await directoryOf(commonDir))).alternates ?? [],

    /** Whether a worktree has settings of its own that name remotes. We do not read them, others do. */
    async hasOwnRemotes(gitDir: string): Promise<boolean> {
      const own = await parse(readSmallFile(join(gitDir, 'config.worktree')));
      return own.some(([key]) => /^(?:remote|url|include|includeif)\./.test(key));
    },

    /** The settings in a text, without what it includes. */
    parse,

    /** The operator's settings, as they were when this process began. */
    operatorSettings,

    /** The settings that git is run with in a directory, as `git config --list` prints them, without the process. */
    async effective(cwd: string): Promise<Setting[]> {
      const { commonDir } = this.place(cwd);
      verifyLocation(settingsDir, cwd, commonDir);
      const files = [operatorFile, join(await directoryOf(commonDir), 'config')];
      return (await Promise.all(files.map((file) => parse(readSmallFile(file))))).flat();
    },

    /** Records the settings of a repository, unless they are recorded; and which filters may run in it. */
    async configure({ repositoryPath, allowFilters, reread = false }: ConfigureRequest): Promise<RecordedSettings> {
      const { commonDir } = locateRepository(repositoryPath);
      if (reread || !verifyLocation(settingsDir, repositoryPath, commonDir)) {
        await recordLocation(settingsDir, repositoryPath, commonDir);
      }
      const directory = await directoryOf(commonDir);
      const recorded = await recordedIn(directory);
      const same =
        !reread && (allowFilters === undefined || allowFilters.join('\n') === recorded.allowFilters.join('\n'));
      if (same) {
        return summaryOf(recorded);
      }
      const filters = [...(allowFilters ?? recorded.allowFilters)];
      const next = reread ? await readRepository(commonDir, filters) : { ...recorded, allowFilters: filters };
      await record(directory, next);
      return summaryOf(next);
    },
  };

  async function summaryOf({ settings, allowFilters }: Recorded): Promise<RecordedSettings> {
    const own = await operatorSettings();
    const missingFilters = allowFilters.filter((name) => filterSettings(own, [name]).length === 0);
    return { remotes: remoteNames(settings), missingFilters };
  }

  /** The private directory of a repository, made when it is first needed. */
  function directoryOf(commonDir: string): Promise<string> {
    const directory = privateDirectory(settingsDir, commonDir);
    const pending = ready.get(directory);
    if (pending && existsSync(join(directory, 'config'))) {
      return pending;
    }
    const making = make(directory, commonDir).catch((error: unknown) => {
      ready.delete(directory);
      throw error;
    });
    ready.set(directory, making);
    return making;
  }

  async function make(directory: string, commonDir: string): Promise<string> {
    const settings = await operatorSettings();
    await mkdir(settingsDir, { recursive: true, mode: 0o700 });
    await ensureFile(operatorFile, renderSettings(allowedOfOperator(settings)));
    await linkRepository(directory, commonDir, { writable: inspecting === undefined });
    await record(
      directory,
      existsSync(join(directory, 'settings.json')) ? await recordedIn(directory) : await readRepository(commonDir, []),
    );
    return directory;
  }

  async function recordedIn(directory: string): Promise<Recorded> {
    return JSON.parse(await readFile(join(directory, 'settings.json'), 'utf8')) as Recorded;
  }

  async function record(directory: string, recorded: Recorded): Promise<void> {
    const settings = [...recorded.settings, ...filterSettings(await operatorSettings(), recorded.allowFilters)];
    await replaceFile(join(directory, 'settings.json'), JSON.stringify(recorded));
    await ensureFile(join(directory, 'config'), renderSettings(settings));
  }

  async function readRepository(commonDir: string, allowFilters: string[]): Promise<Recorded> {
    const settings = await parse(readSmallFile(join(commonDir, 'config')));
    const alternates = readAlternates(join(commonDir, 'objects'));
    const readAt = new Date().toISOString();
    const allowed = allowedOfRepository(settings);
    const obeyed = inspecting ? withoutPromisors(allowed) : allowed;
    return { commonDir, readAt, settings: obeyed, allowFilters, alternates };
  }

  /** Without following `include`: what a file includes is not the repository's. The same text is parsed once. */
  async function parse(text: string): Promise<Setting[]> {
    const remembered = parsed.get(text);
    if (remembered) {
      return remembered;
    }
    const settings = text === '' ? [] : await parseByGit(text);
    if (text.length <= maxParsedLength) {
      parsed.set(text, settings);
      removeOldest(parsed, maxParsed);
    }
    return settings;
  }

  async function parseByGit(text: string): Promise<Setting[]> {
    const args = ['config', '--file', '-', '--no-includes', '--list', '-z'];
    const { exitCode, stdout, stderr } = await run(args, withoutSettings, text);
    if (exitCode === 0) {
      return parseSettings(stdout);
    }
    throw new GitError('not-a-repository', `The configuration of the repository cannot be read: ${stderr.trim()}`);
  }

  /** Retried where it could not be read. */
  async function operatorSettings(): Promise<Setting[]> {
    try {
      return await operator;
    } catch {
      operator = inspecting?.operatorSettings() ?? readOperator();
      return operator;
    }
  }

  async function readOperator(): Promise<Setting[]> {
    const { PATH: _path, ...own } = Object.fromEntries(
      ['PATH', 'HOME', 'XDG_CONFIG_HOME', 'GIT_CONFIG_GLOBAL', 'GIT_CONFIG_SYSTEM', 'GIT_CONFIG_NOSYSTEM'].flatMap(
        (name) => (process.env[name] === undefined ? [] : [[name, process.env[name]]]),
      ),
    ) as Record<string, string>;
    const read = async (scope: string): Promise<Setting[]> => {
      const { exitCode, stdout, stderr, failure } = await run(['config', scope, '--includes', '--list', '-z'], own);
      if (exitCode === 0) {
        return parseSettings(stdout);
      }
      // Git reports a missing file in one way, and one that has no settings in another.
      if (exitCode !== null && !/bad config/i.test(stderr)) {
        return [];
      }
      const code = failure === 'timeout' ? 'timeout' : 'failed';
      throw new GitError(code, `git config ${scope}: ${stderr.trim() || 'no answer'}`);
    };
    return [...(await read('--system')), ...(await read('--global'))];
  }

  function run(args: readonly string[], env: Record<string, string>, input?: string) {
    const program = {
      file: 'git',
      args,
      cwd: '/',
      env: { PATH: process.env.PATH, LC_ALL: 'C', ...env },
      ...compact({ input }),
      timeoutMs,
      maxOutputBytes: readLimitBytes * 2,
    };
    // Git reports with several exit codes that there are no settings.
    return isTracing() ? inGitSpan({ args, okCodes: 'any' }, () => runProgram(program)) : runProgram(program);
  }
}

export type RepositorySettings = ReturnType<typeof createRepositorySettings>;

/** The most worktrees whose location is remembered. */
const maxPinned = 1_000;

/** The most texts of settings that are remembered, and the longest of them in characters. */
const maxParsed = 100;
const maxParsedLength = 65_536;

/** The absolute paths that a directory of objects names as further ones. */
const readAlternates = (objects: string): string[] =>
  readSmallFile(join(objects, 'info', 'alternates'))
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#') && !line.startsWith('"'))
    .map((line) => resolve(objects, line));

/** Reads a file of git's, which may have been replaced by a pipe or a link: neither is followed, nor waited for. */
export function readSmallFile(path: string): string {
  try {
    const handle = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    try {
      const facts = fstatSync(handle);
      if (!facts.isFile() || facts.size > readLimitBytes) {
        throw new GitError('not-a-repository', `${path} is not a file of settings.`);
      }
      return readFileSync(handle, 'utf8');
    } finally {
      closeSync(handle);
    }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') {
      return '';
    }
    throw error instanceof GitError ? error : new GitError('not-a-repository', `${path} cannot be read.`);
  }
}

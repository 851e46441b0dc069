import '../../platform/processes/compile-cache/install';
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { storeSettings } from '../../platform/config/settings/stores';
import { errorMessage } from '../../platform/errors/app-error';
import { makeFilesPrivate } from '../../platform/processes/operator-umask';
import { StoreUnavailableError } from '../../stores/port/errors';
import { UnsettledDirectoryError } from './copy-tree';
import { createBackup } from './create';
import { BackupError, type Manifest } from './manifest';
import { restoreBackup } from './restore';

/** Errors that the operator can do something about: reported in a sentence, without a stack. */
const expected = [BackupError, StoreUnavailableError, UnsettledDirectoryError];

const megabytes = (bytes: number): string => (bytes / 1_048_576).toFixed(1);

async function create(
  target: string,
  options: { dataDir?: string | undefined; filesOnly: boolean },
): Promise<Manifest> {
  // Alone: a job that makes backups has no use for the keys that a board requires.
  const { BOARD_DATA_DIR, MONGODB_URL, TEMPORAL_ADDRESS } = process.env;
  return createBackup({
    dataDir: resolve(options.dataDir ?? storeSettings.BOARD_DATA_DIR.parse(BOARD_DATA_DIR || undefined)),
    target,
    filesOnly: options.filesOnly,
    elsewhere: [...(MONGODB_URL ? ['the stores'] : []), ...(TEMPORAL_ADDRESS ? ['the database of Temporal'] : [])],
    report,
  });
}

const report = (line: string): void => void process.stderr.write(`${line}\n`);

/** `create <backup>` and `restore <backup> <data directory>`. */
async function main(): Promise<void> {
  makeFilesPrivate();
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      'data-dir': { type: 'string' },
      'files-only': { type: 'boolean', default: false },
      json: { type: 'boolean', default: false },
    },
  });
  const [action, first = '', second = ''] = positionals;
  const [backup, dataDir] = [resolve(first), resolve(second)];
  const manifest =
    action === 'restore'
      ? await restoreBackup({ backup, dataDir, report })
      : await create(backup, { dataDir: values['data-dir'], filesOnly: values['files-only'] });
  const { files, bytes, databases } = manifest;
  const counts = `${files} files, ${megabytes(bytes)} MB, databases: ${databases.join(', ') || 'none'}`;
  const summary =
    action === 'restore'
      ? `Restored ${dataDir}: ${counts}. Start it with BOARD_DATA_DIR=${dataDir}, and never beside the board that the backup is of.`
      : `Created ${backup}: ${counts}. It holds secrets of the board: only its user may read it.`;
  process.stdout.write(values.json ? `${JSON.stringify(manifest)}\n` : `${summary}\n`);
}

main().catch((error: unknown) => {
  if (!expected.some((kind) => error instanceof kind) && (error as NodeJS.ErrnoException).code === undefined) {
    throw error;
  }
  report(`runboard: ${errorMessage(error)}`);
  process.exitCode = 1;
});

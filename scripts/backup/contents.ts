import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { databaseName } from '../../stores/port/database-name';

/** The embedded databases of a data directory, by their path in it; the first is the board's. */
export const databases = [
  databaseName,
  join('temporal', 'temporal.db'),
  join('workflow-runs', databaseName),
  join('plants', databaseName),
] as const;

/**
 * Directories whose contents are not in a backup: what a start makes again, and the worktrees, which belong to repositories outside of
 * the data directory and are made again from their commits.
 */
const left = /^(?:fences|integrations|logs|runtime|uploads|worktrees|bitmap\/runtime)\//;

/** Of a write that has not ended. */
const unfinished = /(?:^|\/)\.[^/]+\.tmp$|^blobs\/[^/]+\/unfinished\/./;

/** Whether a path in a data directory is copied as a file: databases are copied in their own way. */
export const isCopied = (path: string): boolean =>
  !left.test(path) &&
  !unfinished.test(path) &&
  !databases.some((database) => path === database || /^-(?:wal|shm|journal)$/.test(after(path, database)));

const after = (path: string, prefix: string): string => (path.startsWith(prefix) ? path.slice(prefix.length) : '');

/** The databases that a data directory has. */
export const databasesOf = (dataDir: string): string[] => databases.filter((path) => existsSync(join(dataDir, path)));

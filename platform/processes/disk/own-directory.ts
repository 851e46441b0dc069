import { readdir } from 'node:fs/promises';

/** What no other program's directory has. */
const distinctive: ReadonlySet<string> = new Set(['host-id', 'runboard.sqlite', 'worktrees', 'fences']);

/** The other entries of a data directory, and what an empty file system has. */
const possible: ReadonlySet<string> = new Set([
  ...[
    'blobs',
    'config',
    'git',
    'integrations',
    'logs',
    'plants',
    'quarantine',
    'runtime',
    'tasks',
    'temporal',
    'uploads',
  ],
  ...['workflow-runs', 'workspaces', 'lost+found'],
]);

/** Whether a directory is empty or what the service has made: `/etc` and home directories are neither. */
export async function isOwnDirectory(directory: string): Promise<boolean> {
  const names = await readdir(directory);
  return names.some((name) => distinctive.has(name)) || names.every((name) => possible.has(name));
}

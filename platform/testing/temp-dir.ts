import { mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A directory of a test's own. */
export interface TempDir {
  /** Absolute, with symbolic links resolved, so that it compares equal to what git and the kernel report. */
  path: string;
  /** Removes it with everything in it; a second call does nothing. */
  remove(): Promise<void>;
}

/** Makes an empty directory under the system's one, or `within` another; `label` in its name identifies a left-over one. */
export async function makeTempDir(label = 'test', within = tmpdir()): Promise<TempDir> {
  const path = await realpath(await mkdtemp(join(within, `runboard-${label}-`)));
  return { path, remove: () => rm(path, { recursive: true, force: true, maxRetries: 5 }) };
}

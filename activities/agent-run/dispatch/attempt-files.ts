import { readdir, rm, stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { findMarked } from '../../../platform/processes/identity';
import { attemptVariable, endOrphans } from '../../../providers/agents/local/end-attempt';
import { removeTransport } from '../../../providers/agents/local/transport-file';
import type { AttemptStore } from '../../../stores/runs/attempt-store';

/** Where a host stores what agents are given, and the streams of those that outlive their workers. Absolute. */
export interface AttemptDirectories {
  /** `<attemptId>.json`: the documents agents are given. */
  transportDir: string;
  /** `<attemptId>/`: spools. */
  agentsDir: string;
}

export const attemptDirectories = (dataDir: string): AttemptDirectories => ({
  transportDir: resolve(dataDir, 'envelopes'),
  agentsDir: resolve(dataDir, 'agents'),
});

/** Removes everything an attempt has on this host besides its worktree. To be called when nothing of its agent runs. */
export async function removeAttemptFiles(
  { transportDir, agentsDir }: AttemptDirectories,
  attemptId: string,
): Promise<void> {
  removeTransport(transportDir, attemptId);
  await rm(join(agentsDir, attemptId), { recursive: true, force: true });
}

/** How old files of an attempt without a record must be, in milliseconds. */
const forgottenAfterMs = 3_600_000;

/**
 * Ends processes of attempts that have ended, and removes their files: a worker that died at the wrong moment leaves them, and
 * so does a host that was away when its runs were given up, with the agents that outlive their workers.
 *
 * @param graceMs between SIGTERM and SIGKILL
 * @returns the number of attempts whose files were removed
 */
export async function removeFilesOfEnded(
  directories: AttemptDirectories,
  attempts: Pick<AttemptStore, 'get'>,
  { now, graceMs }: { now: Date; graceMs: number },
): Promise<number> {
  const ended: string[] = [];
  for (const [attemptId, path] of await filesOfAttempts(directories)) {
    const record = await attempts.get(attemptId);
    const over = record
      ? record.state === 'ended' || record.state === 'refused'
      : now.getTime() - (await changedAt(path)) > forgottenAfterMs;
    if (over) {
      ended.push(attemptId);
    }
  }
  const markers = ended.map((value) => ({ name: attemptVariable, value }));
  const anyRuns = markers.length > 0 && (await findMarked(markers)).length > 0;
  for (const attemptId of ended) {
    if (anyRuns) {
      await endOrphans(attemptId, undefined, graceMs);
    }
    await removeAttemptFiles(directories, attemptId);
  }
  return ended.length;
}

const fileName = /^(attempt_[A-Za-z0-9]+)(?:(?:\.(?:handle|tools))?\.json(?:\.draft)?|\.net|\.tools)?$/;

/** A file or directory of each attempt that has any. */
async function filesOfAttempts({ transportDir, agentsDir }: AttemptDirectories): Promise<Map<string, string>> {
  const files = new Map<string, string>();
  for (const directory of [transportDir, agentsDir]) {
    for (const name of await readdir(directory).catch(ignoreMissing)) {
      const attemptId = fileName.exec(name)?.[1];
      if (attemptId !== undefined) {
        files.set(attemptId, join(directory, name));
      }
    }
  }
  return files;
}

/** A file that is gone by now is as new as can be. */
const changedAt = (path: string): Promise<number> =>
  stat(path).then(
    ({ mtimeMs }) => mtimeMs,
    () => Infinity,
  );

function ignoreMissing(error: unknown): string[] {
  if ((error as NodeJS.ErrnoException).code === 'ENOENT') {
    return [];
  }
  throw error;
}

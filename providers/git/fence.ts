import { findEnvironment } from '../../platform/processes/identity';
import { endProcess } from '../../platform/processes/kill-process-group';
import { holdsSequenceLock, type SequenceLock } from '../../platform/processes/sequence-lock';
import { GitError } from './git-error';
import type { GitRunner } from './run-git';

/** The token of the worker that may change a worktree, as long as no higher one was issued. */
export interface Fence {
  /** On the disk of the worktree; all have to be locked. What is started is marked with the first one. */
  locks: readonly SequenceLock[];
  /** Whether the stores still confirm the token. */
  holds(): Promise<boolean>;
}

/** Marks processes that work on a worktree with the token they were started under: `<sequence> <directory of the lock>`. */
const fenceVariable = 'BOARD_WORKTREE_FENCE';

const lost = (): GitError => new GitError('fenced', 'Another process has acquired the worktree; nothing was changed.');

/** @throws GitError `fenced` */
export function assertLocks({ locks }: Fence): void {
  if (!locks.every(holdsSequenceLock)) {
    throw lost();
  }
}

/** @throws GitError `fenced` */
export async function verifyFence(fence: Fence): Promise<void> {
  if (!(await fence.holds())) {
    throw lost();
  }
  assertLocks(fence);
}

/**
 * The same git for one holder of a worktree: every command verifies the token right before it, once more in the process
 * that starts it, and is ended by the next holder if it is still at work then.
 */
export function fencedBy(git: GitRunner, fence: Fence): GitRunner {
  const [lock] = fence.locks;
  const mark: Record<string, string> = lock ? { [fenceVariable]: `${lock.sequence} ${lock.dir}` } : {};
  const run: (...call: Parameters<GitRunner>) => ReturnType<GitRunner> = async (args, command) => {
    git.assertHeld();
    await verifyFence(fence);
    return git(args, { ...command, env: { ...command.env, ...mark }, locks: fence.locks });
  };
  const { lockWaitMs, log, repositories } = git;
  return Object.assign(run, {
    lockWaitMs,
    log,
    repositories,
    assertHeld: () => {
      git.assertHeld();
      assertLocks(fence);
    },
    verify: async () => {
      await git.verify();
      await verifyFence(fence);
    },
  });
}

/** Ends what earlier holders of a worktree have started and that still works on it, also where they sleep themselves. */
export async function endEarlierHolders({ dir, sequence }: SequenceLock): Promise<void> {
  const marked = await findEnvironment(fenceVariable);
  const earlier = marked.filter(({ value }) => {
    const [, number = '', path] = /^(\d+) (.*)$/s.exec(value) ?? [];
    return path === dir && Number(number) < sequence;
  });
  await endProcess(
    earlier.map(({ identity }) => identity),
    { graceMs: 0 },
  );
}

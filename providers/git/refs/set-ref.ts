import { GitError } from '../git-error';
import { type GitRunner, gitText } from '../run-git';
import { fromFiles } from '../settings/from-files';
import { readRefFile } from './ref-files';

/** What git takes for "there is no such reference". */
const nothing = (sha: string): string => '0'.repeat(sha.length);

/** The object a reference names; `undefined` when there is no such reference. */
export async function refTarget(git: GitRunner, cwd: string, ref: string): Promise<string | undefined> {
  const read = await fromFiles(git, cwd, ({ commonDir }) => readRefFile(commonDir, ref));
  if (read !== undefined) {
    return read ?? undefined;
  }
  const current = await gitText(git, ['rev-parse', '--quiet', '--verify', '--end-of-options', ref], { cwd }).catch(
    (error: unknown) => {
      if (error instanceof GitError && (error.code === 'failed' || error.code === 'unknown-ref')) {
        return '';
      }
      throw error;
    },
  );
  return current === '' ? undefined : current;
}

interface RefUpdate {
  ref: string;
  sha: string;
  /** What it has to name, `null` for nothing; whatever it names when absent. */
  expected?: string | null;
}

/**
 * Points a reference at an object, from exactly what it names now. Between the check and the change the token of the
 * worktree is verified, so that a worker that has lost it meanwhile does not overwrite the next holder's reference.
 *
 * @throws GitError `stale` when it names something else
 */
export async function setRef(git: GitRunner, cwd: string, { ref, sha, expected }: RefUpdate): Promise<void> {
  const old = expected === undefined ? await refTarget(git, cwd, ref) : (expected ?? undefined);
  await git(['update-ref', '--no-deref', ref, sha, old ?? nothing(sha)], { cwd });
}

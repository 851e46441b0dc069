import type { GitRunner } from '../run-git';
import { assertObjectName } from './names';

/** Whether `descendant` leads to `ancestor`; a commit leads to itself. @throws GitError `unknown-ref` */
export async function isAncestor(
  git: GitRunner,
  cwd: string,
  { ancestor, descendant }: { ancestor: string; descendant: string },
): Promise<boolean> {
  assertObjectName(ancestor);
  assertObjectName(descendant);
  const { exitCode } = await git(['merge-base', '--is-ancestor', ancestor, descendant], { cwd, okCodes: [1] });
  return exitCode === 0;
}

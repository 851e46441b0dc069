import type { GitRunner } from '../run-git';

const program = /^filter\..*\.(?:smudge|clean|process|required)$/s;

/** Settings that make git write files as they are stored, whatever filters the operator allows. */
export async function disableFilters(git: GitRunner, cwd: string): Promise<string[]> {
  const names = new Set(
    (await git.repositories.effective(cwd)).map(([name]) => name).filter((name) => program.test(name)),
  );
  // A name with `=` cannot be set for one command: git then refuses it.
  return [...names].map((name) => `${name}=${name.endsWith('.required') ? 'false' : ''}`);
}

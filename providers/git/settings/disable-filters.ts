import { gitFields, type GitRunner } from '../run-git';

/** Names of settings that are set somewhere. A name with `=` cannot be set for one command: git then refuses it. */
async function configuredNames(git: GitRunner, cwd: string, pattern: string): Promise<string[]> {
  const command = ['config', '-z', '--name-only', '--get-regexp', pattern];
  return [...new Set(await gitFields(git, command, { cwd, okCodes: [1] }))];
}

/** Settings that make git write files as they are stored, whatever filters the operator allows. */
export async function disableFilters(git: GitRunner, cwd: string): Promise<string[]> {
  const names = await configuredNames(git, cwd, '^filter\\..*\\.(smudge|clean|process|required)$');
  return names.map((name) => `${name}=${name.endsWith('.required') ? 'false' : ''}`);
}

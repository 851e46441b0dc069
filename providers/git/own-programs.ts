import { type GitRunner, gitFields } from './run-git';

/** What git does itself with the three versions of a text file. */
const ownMerge = 'git merge-file --marker-size=%L %A %O %B';

/** Names of settings that are set somewhere. A name with `=` cannot be set for one command: git then refuses it. */
async function configuredNames(git: GitRunner, cwd: string, pattern: string): Promise<string[]> {
  const command = ['config', '-z', '--name-only', '--get-regexp', pattern];
  return [...new Set(await gitFields(git, command, { cwd, okCodes: [1] }))];
}

/** Settings that make git merge files itself where a repository names programs that do it. */
export async function ownMergeDrivers(git: GitRunner, cwd: string): Promise<string[]> {
  const names = await configuredNames(git, cwd, '^merge\\..*\\.driver$');
  return names.map((name) => `${name}=${ownMerge}`);
}

/** Settings that make git write files as they are stored, whatever programs a repository names for that. */
export async function noFilters(git: GitRunner, cwd: string): Promise<string[]> {
  const names = await configuredNames(git, cwd, '^filter\\..*\\.(smudge|clean|process|required)$');
  return names.map((name) => `${name}=${name.endsWith('.required') ? 'false' : ''}`);
}

import { type GitRunner, gitFields } from './run-git';

/** What git does itself with the three versions of a text file. */
const builtIn = 'git merge-file --marker-size=%L %A %O %B';

/** Settings that make git merge files itself where a repository names programs that do it. */
export async function ownMergeDrivers(git: GitRunner, cwd: string): Promise<string[]> {
  const pattern = '^merge\\..*\\.driver$';
  const found = await gitFields(git, ['config', '-z', '--name-only', '--get-regexp', pattern], { cwd, okCodes: [1] });
  // A name with `=` cannot be set on the command line; git refuses the setting, and the operation with it.
  return [...new Set(found)].map((name) => `${name}=${builtIn}`);
}

import { realpath } from 'node:fs/promises';
import { basename, join, resolve } from 'node:path';

/** A directory that has directories of skills in it. */
export interface SkillRoot {
  /** What paths of its skills begin with. */
  label: string;
  directory: string;
}

export type RootState = 'present' | 'missing' | 'unreadable';

/** The label of skills that are shared resources; no root of directories has it. */
export const sharedLabel = 'shared-resources';

/**
 * The roots of a workspace: `skills` beside its tasks, and those that are configured, by their last names.
 *
 * @param configured absolute directories; those of the installation are of the workspace `local`
 */
export function rootsOf(workspaceDirectory: string, configured: readonly string[]): SkillRoot[] {
  const roots: SkillRoot[] = [{ label: 'skills', directory: resolve(workspaceDirectory, 'skills') }];
  const taken = new Set(['skills', sharedLabel]);
  for (const directory of configured) {
    const name = basename(directory) || 'root';
    let label = name;
    for (let count = 2; taken.has(label); count += 1) {
      label = `${name}-${count}`;
    }
    taken.add(label);
    roots.push({ label, directory });
  }
  return roots;
}

/** The directory of a root itself, which may be reached over symbolic links. */
export async function openRoot({ directory }: SkillRoot): Promise<{ state: RootState; real: string }> {
  try {
    return { state: 'present', real: await realpath(directory) };
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    return { state: code === 'ENOENT' || code === 'ENOTDIR' ? 'missing' : 'unreadable', real: join(directory) };
  }
}

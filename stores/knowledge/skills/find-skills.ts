import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { isManifest } from '../../../domain/skills/content';
import { namesIn } from './read-skill';
import { openRoot, type RootState, type SkillRoot } from './roots';

/** How many directories of skills are examined, and how many are looked through for them. */
const maxSkills = 200;
const maxDirectories = 2_000;
/** A skill is at most this many levels below its root. */
const maxDepth = 4;

/** A directory with a SKILL.md in it. */
export interface SkillDirectory {
  skillId: string;
  /** The label of its root, and the path from there. */
  path: string;
  absolute: string;
  name: string;
}

export interface FoundSkills {
  directories: SkillDirectory[];
  roots: { root: string; state: RootState }[];
  /** Whether there are more than are listed. */
  truncated: boolean;
}

/** The id of the skill at a path: the same as long as it is there. */
export const skillIdOf = (path: string): string =>
  `skill_${createHash('sha256').update(path).digest('hex').slice(0, 12)}`;

/** Finds the directories of skills below the roots. Links are not followed, and nothing below a skill is another one. */
export async function findSkills(roots: readonly SkillRoot[]): Promise<FoundSkills> {
  const found: FoundSkills = { directories: [], roots: [], truncated: false };
  let visited = 0;

  async function search(absolute: string, path: string, depth: number): Promise<void> {
    visited += 1;
    if (visited > maxDirectories || found.directories.length >= maxSkills) {
      found.truncated = true;
      return;
    }
    const entries = await namesIn(absolute);
    if (!entries) {
      return;
    }
    const { names, more } = entries;
    if (depth > 0 && names.some(({ name, isDirectory }) => !isDirectory && isManifest(name))) {
      const name = path.slice(path.lastIndexOf('/') + 1);
      found.directories.push({ skillId: skillIdOf(path), path, absolute, name });
      return;
    }
    found.truncated ||= more;
    for (const { name, isDirectory } of names) {
      if (isDirectory && !name.startsWith('.') && name !== 'node_modules') {
        if (depth < maxDepth) {
          await search(join(absolute, name), `${path}/${name}`, depth + 1);
        } else {
          found.truncated = true;
        }
      }
    }
  }

  for (const root of roots) {
    const { state, real } = await openRoot(root);
    found.roots.push({ root: root.label, state });
    if (state === 'present') {
      await search(real, root.label, 0);
    }
  }
  return found;
}

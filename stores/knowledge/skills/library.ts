import { realpath } from 'node:fs/promises';
import { join } from 'node:path';
import type { skillTargetType } from '../../../contracts/knowledge/skills/skill-scan';
import type { SkillAnalysis } from '../../../domain/skills/analyze';
import { isManifest } from '../../../domain/skills/content';
import type { SkillVersion } from '../../../domain/skills/judge';
import type { SharedResourceStore } from '../shared-resource-store';
import type { AnalyzeSkill } from './analyzer';
import { findSkills, type FoundSkills, skillIdOf } from './find-skills';
import { namesIn, readOneFile, type ReadSkill, readSkillDirectory, skillOfText } from './read-skill';
import { openRoot, sharedLabel, type SkillRoot } from './roots';
import { statNoFollow } from './stat';

export type SkillTargetType = (typeof skillTargetType.options)[number];

/** A skill as it is now. */
export interface LibrarySkill extends SkillVersion {
  targetType: SkillTargetType;
  analysis: SkillAnalysis;
}

/** What a scan is about: a skill, or part of one. */
export interface ScanTarget extends Omit<LibrarySkill, 'skillId'> {
  skillId: string | null;
}

/** Why there is nothing to scan at a path. */
export type NoTarget = 'not-found' | 'is-root' | 'over-link';

export interface Library extends Pick<FoundSkills, 'roots' | 'truncated'> {
  skills: LibrarySkill[];
}

export interface LibrarySources {
  sharedResources: Pick<SharedResourceStore, 'list' | 'get'>;
  roots: readonly SkillRoot[];
  analyze: AnalyzeSkill;
}

/** When a skill is examined again that could not be, in milliseconds. */
const retryMs = 600_000;

type Resource = Awaited<ReturnType<SharedResourceStore['list']>>[number];

/** The skills of a workspace: its shared resources of that type, and the directories below its roots. */
export function createSkillLibrary({ sharedResources, roots, analyze }: LibrarySources) {
  /** What was examined of the versions that there are. */
  let examined = new Map<string, { analysis: SkillAnalysis; at: number }>();
  let listing: Promise<Library> | undefined;

  const keyOf = ({ digest, content }: ReadSkill): string => `${digest}\n${content.name}`;

  async function examine(read: ReadSkill): Promise<{ analysis: SkillAnalysis; at: number }> {
    const former = examined.get(keyOf(read));
    // What took too long on a busy machine may succeed on an idle one.
    const isOver = former?.analysis.incomplete && Date.now() - former.at > retryMs;
    return former && !isOver ? former : { analysis: await analyze(read.content), at: Date.now() };
  }

  const analysisOf = async (read: ReadSkill): Promise<SkillAnalysis> => (await examine(read)).analysis;

  const ofResource = ({ id, name, content }: Resource) => ({
    at: { skillId: id, path: `${sharedLabel}/${id}`, targetType: 'shared-resource' as const },
    read: skillOfText(name, content),
  });

  async function list(): Promise<Library> {
    const found = await findSkills(roots);
    const skills: LibrarySkill[] = [];
    const current: typeof examined = new Map();
    const add = async (at: Omit<LibrarySkill, 'digest' | 'analysis'>, read: ReadSkill): Promise<void> => {
      const one = await examine(read);
      current.set(keyOf(read), one);
      skills.push({ ...at, digest: read.digest, analysis: one.analysis });
    };
    for (const resource of await sharedResources.list()) {
      if (resource.type === 'skill') {
        const { at, read } = ofResource(resource);
        await add(at, read);
      }
    }
    for (const { skillId, path, absolute, name } of found.directories) {
      await add({ skillId, path, targetType: 'skill' }, await readSkillDirectory(absolute, name));
    }
    examined = current;
    return { skills, roots: found.roots, truncated: found.truncated };
  }

  async function resourceTarget(id: string): Promise<LibrarySkill | undefined> {
    const resource = await sharedResources.get(id);
    if (resource?.type !== 'skill') {
      return undefined;
    }
    const { at, read } = ofResource(resource);
    return { ...at, digest: read.digest, analysis: await analysisOf(read) };
  }

  /** A target below a root of directories. */
  async function fileTarget(path: string, onlyManifest: boolean): Promise<ScanTarget | NoTarget> {
    const [label = '', ...parts] = path.split('/');
    const root = roots.find((one) => one.label === label);
    if (!root) {
      return 'not-found';
    }
    if (parts.length === 0) {
      return 'is-root';
    }
    const { state, real } = await openRoot(root);
    const absolute = join(real, ...parts);
    const kind = state === 'present' ? await statNoFollow(absolute) : undefined;
    if (!kind) {
      return 'not-found';
    }
    // Also a link itself: it is named where it is in a skill, and leads elsewhere on its own.
    if (kind === 'link' || (await realpath(absolute).catch(() => undefined)) !== absolute) {
      return 'over-link';
    }
    if (kind !== 'directory') {
      const read = await readOneFile(absolute, parts.at(-1) ?? '');
      return { skillId: null, path, targetType: 'file', digest: read.digest, analysis: await analyze(read.content) };
    }
    const manifest = (await namesIn(absolute))?.names.find(({ name, isDirectory }) => !isDirectory && isManifest(name));
    const read =
      onlyManifest && manifest
        ? await readOneFile(join(absolute, manifest.name), manifest.name, true)
        : await readSkillDirectory(absolute, parts.at(-1) ?? '', manifest !== undefined);
    const targetType = manifest ? 'skill' : 'directory';
    const isListed = (await findSkills([root])).directories.some((one) => one.path === path);
    const skillId = isListed ? skillIdOf(path) : null;
    return { skillId, path, targetType, digest: read.digest, analysis: await analyze(read.content) };
  }

  return {
    analyze,

    /** Every skill, as it is now. Callers at the same time share one reading. */
    list(): Promise<Library> {
      listing ??= list().finally(() => {
        listing = undefined;
      });
      return listing;
    },

    async get(skillId: string): Promise<LibrarySkill | undefined> {
      if (skillId.startsWith('resource_')) {
        return resourceTarget(skillId);
      }
      const { directories } = await findSkills(roots);
      const found = directories.find((one) => one.skillId === skillId);
      if (!found) {
        return undefined;
      }
      const read = await readSkillDirectory(found.absolute, found.name);
      return { skillId, path: found.path, targetType: 'skill', digest: read.digest, analysis: await analysisOf(read) };
    },

    /** The analysis of a text that would be a skill. */
    async ofText(name: string, text: string): Promise<SkillVersion & { analysis: SkillAnalysis }> {
      const read = skillOfText(name, text);
      return { skillId: '', path: '', digest: read.digest, analysis: await analysisOf(read) };
    },

    /** @param path checked by its contract: of no part that leads upwards */
    async target(path: string, includeReferencedFiles: boolean): Promise<ScanTarget | NoTarget> {
      const [label, id = '', ...rest] = path.split('/');
      if (label === sharedLabel) {
        return (rest.length === 0 ? await resourceTarget(id) : undefined) ?? (id === '' ? 'is-root' : 'not-found');
      }
      return fileTarget(path, !includeReferencedFiles);
    },
  };
}

export type SkillLibrary = ReturnType<typeof createSkillLibrary>;

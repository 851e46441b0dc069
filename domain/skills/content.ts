import type { SkillFileKind } from '../../contracts/knowledge/skills/skill-scan';

/** A file of a skill as it was read; only one of the kind `text` has a text. */
export interface SkillFile {
  /** Relative to the skill. */
  path: string;
  kind: SkillFileKind;
  bytes: number;
  text?: string;
  /** Of a symbolic link. */
  target?: string;
}

/** Everything of a skill that was read, within `skillLimits`. */
export interface SkillContent {
  /** Its directory's or its record's, where its front matter has none. */
  name: string;
  /** Whether it is one of many files that are a skill together; a single file needs no SKILL.md. */
  isSkill: boolean;
  files: SkillFile[];
  /** What was left out, because there is too much of it. */
  omitted: { files: boolean; depth: boolean };
}

/** What of one skill is read. */
export const skillLimits = {
  files: 200,
  depth: 8,
  fileBytes: 524_288,
  totalBytes: 4_194_304,
} as const;

/** The file that describes a skill. */
export const manifestName = 'SKILL.md';

export const isManifest = (path: string): boolean => path.toLowerCase() === manifestName.toLowerCase();

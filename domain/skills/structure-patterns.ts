import type { SecurityPattern } from '../../contracts/knowledge/skills/skill-scan';

const structure = 'structure' as const;

/** What the scan finds in other ways than by searching text. */
export const structurePatterns = [
  {
    id: 'secret-in-file',
    title: 'A file has a credential in it',
    category: 'credentials',
    severity: 'high',
    recommendation: 'Revoke the credential, and take it by a reference such as `env:NAME`.',
  },
  {
    id: 'bidirectional-text',
    title: 'Text is shown in another order than it has',
    category: 'text',
    severity: 'critical',
    recommendation: 'Remove the characters that change the direction of text.',
  },
  {
    id: 'invisible-text',
    title: 'Text has characters that are not shown',
    category: 'text',
    severity: 'high',
    recommendation: 'Remove the invisible characters, and read what they hid.',
  },
  {
    id: 'lookalike-letters',
    title: 'Words have letters of another script that look alike',
    category: 'text',
    severity: 'medium',
    recommendation: 'Write each word in one script.',
  },
  {
    id: 'control-characters',
    title: 'Text has control characters, which terminals obey',
    category: 'text',
    severity: 'medium',
    recommendation: 'Remove the control characters.',
  },
  {
    id: 'symbolic-link',
    title: 'A file is a symbolic link',
    category: structure,
    severity: 'high',
    recommendation: 'Replace the link by the file. Links are not followed.',
  },
  {
    id: 'special-file',
    title: 'A file is a device, a pipe or a socket',
    category: structure,
    severity: 'high',
    recommendation: 'Remove it. It was not read.',
  },
  {
    id: 'binary-file',
    title: 'A file is not text',
    category: structure,
    severity: 'medium',
    recommendation: 'Have its source instead, or verify where it is from. It was not examined.',
  },
  {
    id: 'oversized-file',
    title: 'A file is too large to be examined',
    category: structure,
    severity: 'medium',
    recommendation: 'Split it, or remove it. It was not examined.',
  },
  {
    id: 'unreadable-file',
    title: 'A file cannot be read',
    category: structure,
    severity: 'medium',
    recommendation: 'Make it readable for the user of the service.',
  },
  {
    id: 'too-many-files',
    title: 'There are more files than are examined',
    category: structure,
    severity: 'high',
    recommendation: 'Remove what the skill does not need.',
  },
  {
    id: 'deep-directories',
    title: 'Directories are nested deeper than is examined',
    category: structure,
    severity: 'high',
    recommendation: 'Have fewer levels of directories.',
  },
  {
    id: 'manifest-missing',
    title: 'There is no SKILL.md with front matter',
    category: structure,
    severity: 'medium',
    recommendation: 'Describe the skill, and declare its capabilities, in the front matter of SKILL.md.',
  },
  {
    id: 'manifest-invalid',
    title: 'The front matter cannot be read',
    category: structure,
    severity: 'high',
    recommendation: 'Write it as plain YAML without aliases, tags and repeated fields.',
  },
  {
    id: 'reference-outside',
    title: 'A file outside of the skill is referred to',
    category: structure,
    severity: 'medium',
    recommendation: 'Have the file in the skill. It was not read.',
  },
  {
    id: 'not-examined',
    title: 'The skill cannot be examined',
    category: structure,
    severity: 'critical',
    recommendation: 'Do not install it: examining it takes more time or memory than is allowed.',
  },
] as const satisfies readonly SecurityPattern[];

export type StructurePatternId = (typeof structurePatterns)[number]['id'];

const byId = new Map<string, SecurityPattern>(structurePatterns.map((pattern) => [pattern.id, pattern]));

export function structurePattern(id: StructurePatternId): SecurityPattern {
  const pattern = byId.get(id);
  if (!pattern) {
    throw new Error(`There is no pattern ${id}.`);
  }
  return pattern;
}

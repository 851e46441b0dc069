import { type SkillCapability, skillCapability } from '../../contracts/knowledge/skills/skill';
import { wellFormed } from '../../platform/text/well-formed';
import { DocumentError, readDocument } from '../../platform/yaml/document';
import { capabilityOfTool } from './taxonomy';

/** The longest front matter that is parsed, in characters. */
const maxLength = 16_384;
/** How many capabilities and tools are read. */
const maxListed = 100;
const maxNameLength = 200;
const maxDescriptionLength = 1_000;

/** What the front matter of a SKILL.md states. */
export interface SkillManifest {
  state: 'read' | 'missing' | 'invalid';
  /** Why it is invalid. */
  problem?: string;
  name?: string;
  description?: string;
  /** Absent when the skill declares nothing; an empty list is a declaration. */
  declared?: SkillCapability[];
  /** Declared names that are none of the taxonomy. */
  unknown: string[];
}

/** The text between the first two lines of `---`; `undefined` when there is none. */
function frontMatterOf(text: string): string | undefined {
  const begin = /^\ufeff?---[ \t]{0,100}\r?\n/.exec(text.slice(0, 200));
  if (!begin) {
    return undefined;
  }
  const rest = text.slice(begin[0].length, begin[0].length + maxLength + 100);
  const end = /(?:^|\n)---[ \t]{0,100}(?:\r?\n|$)/.exec(rest);
  return end ? rest.slice(0, end.index) : rest;
}

const own = (fields: Record<string, unknown>, name: string): unknown =>
  Object.hasOwn(fields, name) ? fields[name] : undefined;

const textOf = (value: unknown, most: number): string | undefined => {
  const line =
    typeof value === 'string'
      ? value
          .replace(/\s{1,100}/g, ' ')
          .trim()
          .slice(0, most)
      : '';
  return line === '' ? undefined : wellFormed(line);
};

/** A list of names, or one text with commas between them. */
const namesOf = (value: unknown): string[] | undefined => {
  const names = typeof value === 'string' ? value.slice(0, maxLength).split(',') : value;
  if (!Array.isArray(names)) {
    return undefined;
  }
  return names
    .slice(0, maxListed)
    .flatMap((name) => (typeof name === 'string' ? (textOf(name, maxNameLength) ?? []) : []));
};

/** Reads the front matter of a SKILL.md. What is hostile in it makes it invalid, and nothing of it is used. */
export function readManifest(text: string): SkillManifest {
  const yaml = frontMatterOf(text);
  if (yaml === undefined) {
    return { state: 'missing', unknown: [] };
  }
  if (yaml.length > maxLength) {
    return { state: 'invalid', problem: `it is not ended within ${maxLength} characters`, unknown: [] };
  }
  let fields: Record<string, unknown>;
  try {
    fields = readDocument(yaml);
  } catch (error) {
    if (error instanceof DocumentError) {
      return { state: 'invalid', problem: error.message.slice(0, 200), unknown: [] };
    }
    // The parser gives up on some inputs with errors of its own.
    return { state: 'invalid', problem: 'it is not YAML', unknown: [] };
  }
  const names = namesOf(own(fields, 'capabilities'));
  const tools = namesOf(own(fields, 'allowed-tools'));
  const isKnown = (name: string): name is SkillCapability => skillCapability.safeParse(name).success;
  const declared = [...(names ?? []).filter(isKnown), ...(tools ?? []).flatMap((tool) => capabilityOfTool(tool) ?? [])];
  const manifest: SkillManifest = { state: 'read', unknown: (names ?? []).filter((name) => !isKnown(name)) };
  const [name, description] = [
    textOf(own(fields, 'name'), maxNameLength),
    textOf(own(fields, 'description'), maxDescriptionLength),
  ];
  return {
    ...manifest,
    ...(name !== undefined && { name }),
    ...(description !== undefined && { description }),
    ...((names ?? tools) && { declared: skillCapability.options.filter((one) => declared.includes(one)) }),
  };
}

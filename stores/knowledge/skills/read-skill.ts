import { createHash } from 'node:crypto';
import { opendir } from 'node:fs/promises';
import { join } from 'node:path';
import { type SkillContent, type SkillFile, skillLimits } from '../../../domain/skills/content';
import { type ReadFile, readSkillFile } from './read-file';

/** What of a target was read, and the digest of all of it: another digest is another version. */
export interface ReadSkill {
  content: SkillContent;
  digest: string;
}

/** Of a directory at most this many entries are named; the rest is left out. */
const maxEntries = 1_000;

export const digestOfText = (text: string): string => `sha256:${createHash('sha256').update(text).digest('hex')}`;

/** The names in a directory, in order, as far as they are read; `undefined` when it cannot be. */
export async function namesIn(
  directory: string,
): Promise<{ names: { name: string; isDirectory: boolean }[]; more: boolean } | undefined> {
  const names: { name: string; isDirectory: boolean }[] = [];
  try {
    for await (const entry of await opendir(directory)) {
      if (names.length >= maxEntries) {
        return { names: inOrder(names), more: true };
      }
      names.push({ name: entry.name, isDirectory: entry.isDirectory() });
    }
  } catch {
    return undefined;
  }
  return { names: inOrder(names), more: false };
}

const inOrder = (names: { name: string; isDirectory: boolean }[]) =>
  names.sort((a, b) => (a.name < b.name ? -1 : Number(a.name > b.name)));

/** Files of git itself are no part of a skill. */
const isLeftOut = (name: string): boolean => name === '.git';

/** Reads everything in the directory of a skill, within `skillLimits`. */
export async function readSkillDirectory(directory: string, name: string, isSkill = true): Promise<ReadSkill> {
  const omitted = { files: false, depth: false };
  const read: ReadFile[] = [];
  let bytes = 0;

  async function add(absolute: string, path: string): Promise<void> {
    if (read.length >= skillLimits.files || bytes >= skillLimits.totalBytes) {
      omitted.files = true;
      return;
    }
    const one = await readSkillFile({ absolute, path });
    bytes += one.file.text === undefined ? 0 : one.file.bytes;
    read.push(one);
  }

  async function walk(absolute: string, path: string, depth: number): Promise<void> {
    const entries = await namesIn(absolute);
    if (!entries) {
      read.push({ file: { path: path || '.', kind: 'unreadable', bytes: 0 }, digest: 'unreadable' });
      return;
    }
    omitted.files ||= entries.more;
    // Files first: what is nested does not take the room of what is at hand.
    const sorted = [...entries.names].sort((a, b) => Number(a.isDirectory) - Number(b.isDirectory));
    for (const { name: entry, isDirectory } of sorted) {
      const at = { absolute: join(absolute, entry), path: path === '' ? entry : `${path}/${entry}` };
      if (omitted.files && read.length >= skillLimits.files) {
        return;
      }
      if (!isDirectory) {
        await add(at.absolute, at.path);
      } else if (depth >= skillLimits.depth) {
        omitted.depth = true;
      } else if (!isLeftOut(entry)) {
        await walk(at.absolute, at.path, depth + 1);
      }
    }
  }

  await walk(directory, '', 1);
  return {
    content: { name, isSkill, files: read.map(({ file }) => file), omitted },
    digest: digestOfAll(read, omitted),
  };
}

const digestOfAll = (read: readonly ReadFile[], omitted: SkillContent['omitted']): string =>
  digestOfText(JSON.stringify([omitted, read.map(({ file, digest }) => [file.path, file.kind, digest])]));

/** Reads one file as a target of its own. */
export async function readOneFile(absolute: string, path: string, isSkill = false): Promise<ReadSkill> {
  const one = await readSkillFile({ absolute, path });
  const omitted = { files: false, depth: false };
  return {
    content: { name: path, isSkill, files: [one.file], omitted },
    digest: digestOfAll([one], omitted),
  };
}

/** A skill that is a text, as a shared resource has it. */
export function skillOfText(name: string, text: string): ReadSkill {
  const file: SkillFile = { path: 'SKILL.md', kind: 'text', bytes: Buffer.byteLength(text), text };
  return {
    content: { name, isSkill: true, files: [file], omitted: { files: false, depth: false } },
    digest: digestOfText(text),
  };
}

import { readlinkSync } from 'node:fs';
import { join } from 'node:path';
import { entriesOf, factsOf, readPlainFile } from '../settings/plain-file';

/**
 * References as their files have them (gitrepository-layout(5), git-pack-refs(1)), which saves the process that would be asked.
 * Only what git writes itself is read; about anything else git is to be asked, for which `undefined` stands here.
 */
export interface Ref {
  name: string;
  sha: string;
}

/** Beyond these git itself is faster: files of single references, and bytes of the file of all others. */
const mostFiles = 100;
const mostPacked = 262_144;

/** More than any file of a reference to an object has, in bytes. */
const longest = 100;

const nothing = '0'.repeat(40);

/** Names that git takes everywhere; it allows more, and judges them. */
const usualPart = /^\w[\w+=,%#@-]*(?:\.[\w+=,%#@-]+)*$/;
const isUsual = (name: string): boolean => name.split('/').every((part) => usualPart.test(part) && !isLock(part));

/** Git's temporary file of a reference. */
const isLock = (name: string): boolean => name.endsWith('.lock');

/** The object that a reference of a repository names; `null` when there is none. Per-worktree references are not read. */
export const readRefFile = (commonDir: string, name: string): string | null | undefined =>
  readRefFiles(commonDir, [name])?.get(name);

/** The objects that references of a repository name, as `readRefFile` reads one; `undefined` when git is to be asked about one. */
export function readRefFiles(
  commonDir: string,
  names: readonly string[],
): ReadonlyMap<string, string | null> | undefined {
  if (!names.every(isReadable) || !keepsFiles(commonDir)) {
    return undefined;
  }
  // In the order of git: one that is packed meanwhile is in its file until it is in the other.
  const loose = names.map((name) => [name, looseValue(join(commonDir, name))] as const);
  // Read in any case: git answers nothing while that file is damaged.
  const packed = packedRefs(commonDir);
  if (!packed) {
    return undefined;
  }
  const values = new Map<string, string | null>();
  for (const [name, value] of loose) {
    if (value === undefined) {
      return undefined;
    }
    values.set(name, value ?? packed.get(name) ?? null);
  }
  return values;
}

const isReadable = (name: string): boolean => /^refs\/(?:heads|tags|board)\//.test(name) && isUsual(name);

/**
 * The references of a repository below some directories, sorted by name.
 *
 * @param directories such as `refs/heads`
 */
export function listRefFiles(commonDir: string, directories: readonly string[]): Ref[] | undefined {
  if (!keepsFiles(commonDir)) {
    return undefined;
  }
  // In the order of git: one that is packed meanwhile is in its file until it is in the other.
  const loose = new Map<string, string>();
  for (const directory of directories) {
    if (!collect(commonDir, directory, loose)) {
      return undefined;
    }
  }
  const packed = packedRefs(commonDir);
  if (!packed) {
    return undefined;
  }
  const isWanted = (name: string) => directories.some((directory) => name.startsWith(`${directory}/`));
  const wanted = [...packed].filter(([name]) => isWanted(name));
  const refs = [...new Map([...wanted, ...loose])].map(([name, sha]) => ({ name, sha }));
  return refs.every(({ name }) => isUsual(name)) ? refs.sort((a, b) => (a.name < b.name ? -1 : 1)) : undefined;
}

const keepsFiles = (commonDir: string): boolean => factsOf(join(commonDir, 'reftable')) === undefined;

/** The value of a reference that has a file of its own. */
function looseValue(path: string): string | null | undefined {
  const content = readPlainFile(path, { most: longest });
  if (!content) {
    return isDirectory(path) ? null : content;
  }
  const [, sha = nothing] = /^([0-9a-f]{40})\n?$/.exec(content.toString('latin1')) ?? [];
  return sha === nothing || leadsToName(path) ? undefined : sha;
}

/** Git takes the target of a link that begins so for the name of another reference. */
function leadsToName(path: string): boolean {
  try {
    return factsOf(path)?.isSymbolicLink() === true && readlinkSync(path).startsWith('refs/');
  } catch {
    return false;
  }
}

/** Git removes empty directories that are where a reference will be. */
const isDirectory = (path: string): boolean => factsOf(path)?.isDirectory() ?? false;

/** @returns whether all there is was read */
function collect(commonDir: string, directory: string, found: Map<string, string>): boolean {
  const entries = entriesOf(join(commonDir, directory));
  for (const entry of entries ?? []) {
    const name = `${directory}/${entry.name}`;
    // Git passes over both, too.
    if (entry.name.startsWith('.') || isLock(entry.name)) {
      continue;
    }
    if (entry.isDirectory()) {
      if (!collect(commonDir, name, found)) {
        return false;
      }
      continue;
    }
    const value = found.size < mostFiles ? looseValue(join(commonDir, name)) : undefined;
    if (value === undefined) {
      return false;
    }
    if (value !== null) {
      found.set(name, value);
    }
  }
  return entries !== undefined;
}

/** What the file was that was read last, of whichever repository, and its references: a listing asks for many. */
let latest: { content: Buffer; refs: ReadonlyMap<string, string> | undefined } | undefined;

function packedRefs(commonDir: string): ReadonlyMap<string, string> | undefined {
  const content = readPlainFile(join(commonDir, 'packed-refs'), { most: mostPacked });
  if (!content) {
    return content === null ? new Map() : undefined;
  }
  if (!latest?.content.equals(content)) {
    latest = { content, refs: parsePacked(content.toString('latin1')) };
  }
  return latest.refs;
}

/** `<object> <name>`, and `^<object>` for what the tag on the line before leads to. */
function parsePacked(text: string): Map<string, string> | undefined {
  const refs = new Map<string, string>();
  const [header = '', ...lines] = text.split('\n');
  if (!/^# pack-refs with: [a-z -]*\bsorted\b/.test(header) || lines.pop() !== '') {
    return undefined;
  }
  let before = '';
  for (const line of lines) {
    const [, sha = nothing, name = ''] = /^([0-9a-f]{40}) (.+)$/.exec(line) ?? [];
    if (sha !== nothing && name > before) {
      refs.set(name, sha);
      before = name;
    } else if (before === '' || !/^\^[0-9a-f]{40}$/.test(line)) {
      return undefined;
    }
  }
  return refs;
}

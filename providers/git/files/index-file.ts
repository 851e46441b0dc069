import { join } from 'node:path';
import { compact } from '../../../platform/json/compact';
import { gitFields, type GitRunner } from '../run-git';
import { fromFiles } from '../settings/from-files';
import { readPlainFile } from '../settings/plain-file';

/** An entry of an index. */
export interface IndexEntry {
  readonly path: string;
  readonly object: string;
  /** 0o160000 for a repository inside the worktree. */
  readonly mode: number;
  readonly unmerged: boolean;
  /** Marks by which git ignores changes of the file: `assume-unchanged`, `skip-worktree`. */
  readonly assumed: boolean;
  readonly skipped: boolean;
}

/** The largest index that is read, in bytes: 300,000 files. */
const most = 33_554_432;

/**
 * The entries of the index of a worktree, or of another one that the environment names. The file is read itself
 * (gitformat-index(5)) where it is one that git writes unless asked for another kind; about any other, git is asked.
 *
 * @throws GitError for a damaged one
 */
export async function readIndex(
  git: GitRunner,
  cwd: string,
  env?: { GIT_INDEX_FILE: string },
): Promise<readonly IndexEntry[]> {
  const inFile = await fromFiles(git, cwd, ({ gitDir }) => {
    const content = readPlainFile(env?.GIT_INDEX_FILE ?? join(gitDir, 'index'), { most });
    return content === null ? [] : content && parseIndex(content);
  });
  return inFile ?? (await gitFields(git, ['ls-files', '-v', '-s', '-z'], { cwd, ...compact({ env }) })).map(parseLine);
}

/** `<tag> <mode> <object> <stage>\t<path>` */
function parseLine(line: string): IndexEntry {
  const tab = line.indexOf('\t');
  const [tag = '', mode = '', object = '', stage = ''] = line.slice(0, tab).split(' ');
  return {
    path: line.slice(tab + 1),
    object,
    mode: Number.parseInt(mode, 8),
    unmerged: stage !== '0',
    assumed: /[a-z]/.test(tag),
    skipped: /[Ss]/.test(tag),
  };
}

const headerBytes = 12;
const hashBytes = 20;
/** Where in an entry its parts are. */
const at = { mode: 24, object: 40, flags: 60, more: 62 };

/** @returns `undefined` for what git is to be asked about: a damaged index, or one with parts that change what it means */
export function parseIndex(content: Buffer): readonly IndexEntry[] | undefined {
  const end = content.length - hashBytes;
  const version = end < headerBytes || content.toString('latin1', 0, 4) !== 'DIRC' ? 0 : content.readUInt32BE(4);
  if (version !== 2 && version !== 3) {
    return undefined;
  }
  const entries: FileEntry[] = [];
  let offset = headerBytes;
  for (let left = content.readUInt32BE(8); left > 0; left -= 1) {
    const entry = entryAt(content, offset, end);
    const before = entries.at(-1);
    if (!entry || (before && !entry.follows(before))) {
      return undefined;
    }
    entries.push(entry);
    offset = entry.next;
  }
  return hasOnlyOptional(content, offset, end) ? entries : undefined;
}

function entryAt(content: Buffer, offset: number, end: number): FileEntry | undefined {
  if (offset + at.more + 2 > end) {
    return undefined;
  }
  const entry = new FileEntry(content, offset);
  const { length, flags, more, next } = entry;
  // Git writes the length of a name, up to that of the longest it has room for.
  const isWhole = length > 0 && Math.min(length, 0xfff) === (flags & 0xfff) && next <= end;
  return isWhole && (more & ~0x6000) === 0 ? entry : undefined;
}

/** Extensions whose names begin with a small letter have to be understood: parts of the index are elsewhere, or left out. */
function hasOnlyOptional(content: Buffer, from: number, end: number): boolean {
  let offset = from;
  while (offset + 8 <= end) {
    if (!/^[A-Z]/.test(content.toString('latin1', offset, offset + 4))) {
      return false;
    }
    offset += 8 + content.readUInt32BE(offset + 4);
  }
  return offset === end;
}

/** Its texts are made when they are asked for: most are not. */
class FileEntry implements IndexEntry {
  readonly flags: number;
  readonly more: number;
  readonly length: number;
  private readonly start: number;

  constructor(
    private readonly content: Buffer,
    private readonly offset: number,
  ) {
    this.flags = content.readUInt16BE(offset + at.flags);
    const isExtended = (this.flags & 0x4000) !== 0;
    this.more = isExtended ? content.readUInt16BE(offset + at.more) : 0;
    this.start = offset + at.more + (isExtended ? 2 : 0);
    let end = this.start;
    while (end < content.length && content[end] !== 0) {
      end += 1;
    }
    this.length = end - this.start;
  }

  get path(): string {
    return this.content.toString('utf8', this.start, this.start + this.length);
  }

  get object(): string {
    const start = this.offset + at.object;
    return this.content.toString('hex', start, start + hashBytes);
  }

  get mode(): number {
    return this.content.readUInt32BE(this.offset + at.mode);
  }

  get unmerged(): boolean {
    return this.stage !== 0;
  }

  get assumed(): boolean {
    return (this.flags & 0x8000) !== 0;
  }

  get skipped(): boolean {
    return !this.unmerged && (this.more & 0x4000) !== 0;
  }

  get stage(): number {
    return (this.flags >> 12) & 3;
  }

  /** Where the next entry begins: a name is followed by one to eight zeros. */
  get next(): number {
    return this.offset + ((this.start + this.length - this.offset + 8) & ~7);
  }

  /** Whether it comes after another one, in the order that git insists on. */
  follows(other: FileEntry): boolean {
    const { content } = this;
    // The zero at the end of a name comes before any other byte.
    let [mine, others] = [this.start, other.start];
    const end = this.start + this.length;
    while (mine < end && content[mine] === content[others]) {
      mine += 1;
      others += 1;
    }
    const order = (content[mine] ?? 0) - (content[others] ?? 0);
    return order > 0 || (order === 0 && other.stage !== 0 && this.stage > other.stage);
  }
}

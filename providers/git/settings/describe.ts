import { createHash } from 'node:crypto';
import { lstatSync, readdirSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import { withoutCredentials } from '../../../platform/log/log';
import { GitError } from '../git-error';
import type { Setting } from './entries';
import { readSmallFile } from './repository-settings';

/** A setting, or a file that git takes for one, with a digest of what it is: enough to see that it was changed. */
export interface DescribedSetting {
  /** `config:<key>`, `config.worktree:<key>`, `hooks/<name>` or a file of the repository's directory. */
  name: string;
  digest: string;
}

/** The most settings and the most hooks that are described. */
const most = 500;

const digestOf = (text: string): string => `sha256:${createHash('sha256').update(text).digest('hex').slice(0, 16)}`;

/**
 * Describes what in a repository could make other people's git run programs: its configuration, hooks and attributes. No
 * value is part of it, and no credentials that are part of a key.
 */
export async function describeSettings(
  parse: (text: string) => Promise<Setting[]>,
  { gitDir, commonDir }: { gitDir: string; commonDir: string },
): Promise<DescribedSetting[]> {
  const configurations: [string, string][] = [
    ['config', join(commonDir, 'config')],
    ['config.worktree', join(gitDir, 'config.worktree')],
  ];
  const described = await Promise.all(configurations.map(([name, file]) => describeConfiguration(parse, name, file)));
  return [...described.flat(), ...describeFiles(commonDir)];
}

async function describeConfiguration(
  parse: (text: string) => Promise<Setting[]>,
  name: string,
  file: string,
): Promise<DescribedSetting[]> {
  let text = '';
  try {
    text = readSmallFile(file);
    if (text === '') {
      return [];
    }
    const values = new Map<string, string>();
    for (const [key, value] of await parse(text)) {
      values.set(key, `${values.get(key) ?? ''}\n${value ?? ''}`);
    }
    return [...values]
      .slice(0, most)
      .map(([key, value]) => ({ name: `${name}:${withoutCredentials(key)}`, digest: digestOf(value) }));
  } catch (error) {
    // One that cannot be read is described as that.
    if (!(error instanceof GitError)) {
      throw error;
    }
    return [{ name, digest: digestOf(text) }];
  }
}

function describeFiles(commonDir: string): DescribedSetting[] {
  const hooks = entriesOf(join(commonDir, 'hooks')).filter((name) => !name.endsWith('.sample'));
  const files = [...hooks.slice(0, most).map((name) => `hooks/${name}`), 'info/attributes'];
  return files.flatMap((name) => {
    const content = contentOf(join(commonDir, name));
    return content === undefined ? [] : [{ name, digest: digestOf(content) }];
  });
}

function entriesOf(directory: string): string[] {
  try {
    return readdirSync(directory).sort();
  } catch {
    return [];
  }
}

function contentOf(file: string): string | undefined {
  const facts = lstatSync(file, { throwIfNoEntry: false });
  if (!facts) {
    return undefined;
  }
  if (facts.isSymbolicLink()) {
    return `-> ${readlinkSync(file)}`;
  }
  try {
    return `${facts.mode & 0o111}\n${readSmallFile(file)}`;
  } catch {
    return `${facts.mode} ${facts.size} ${facts.mtimeMs}`;
  }
}

import { lstat, mkdir, readdir } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import type { SandboxPreset } from '../../contracts/settings/sandbox';
import type { Mount } from './mounts';
import { absolutePath, isInside, isPattern, matchesPattern, realLocation, searchWorktree } from './paths';
import { SandboxError } from './sandbox-error';

type Files = SandboxPreset['filesystem'];

/** Files of settings with secrets; those that show what belongs into them are not hidden. */
const isSecretFile = (name: string): boolean =>
  /^\.env(\..+)?$/.test(name) && !/\.(example|sample|template|dist)$/.test(name);

/**
 * The files that a preset hides in a worktree, and elsewhere. A path of the worktree that does not exist cannot be made either.
 *
 * @param writable the directories of the worktree that the agent may change
 */
export async function hiddenMounts(files: Files, worktree: string, writable: readonly string[]): Promise<Mount[]> {
  const hidden = await hiddenPaths(files, worktree);
  const outermost = hidden.filter((path) => !hidden.some((other) => other !== path && isInside(path, other)));
  const mounts = await Promise.all(outermost.map((path) => hiddenMount(path, worktree)));
  const pinned = [...new Set(outermost.flatMap((path) => stepsTo(path, writable)))].sort();
  return [...pinned.map((path): Mount => ({ kind: 'write', path })), ...mounts.flat()];
}

async function hiddenPaths(files: Files, worktree: string): Promise<string[]> {
  const patterns = files.deniedPaths.filter(isPattern);
  const named = files.deniedPaths.filter((path) => !isPattern(path)).map((path) => absolutePath(path, worktree));
  const selects = (path: string, name: string): boolean =>
    (files.dotfileMasking && isSecretFile(name)) || patterns.some((each) => matchesPattern(path, each, worktree));
  const searched =
    patterns.length > 0 || files.dotfileMasking
      ? [...(await searchWorktree(worktree, selects)), ...(files.dotfileMasking ? ['.env'] : [])]
      : [];
  const paths = await Promise.all([...named, ...searched.map((each) => join(worktree, each))].map(realLocation));
  if (paths.some((path) => isInside(worktree, path))) {
    throw new SandboxError('The sandbox preset denies the worktree itself.');
  }
  return [...new Set(paths)].sort();
}

async function hiddenMount(path: string, worktree: string): Promise<Mount[]> {
  const facts = await lstat(path).catch(() => undefined);
  if (facts) {
    return [{ kind: 'hidden', path, isDirectory: facts.isDirectory() }];
  }
  if (!isInside(path, worktree)) {
    return [];
  }
  // Git does not see a directory without files: what stands for the path changes nothing of the work.
  await mkdir(path, { recursive: true });
  return [{ kind: 'blank', path, isDirectory: true }];
}

/**
 * The directories above a hidden path, which are mounted on themselves: what is a mount cannot be renamed, and a command that is
 * started later would otherwise not find the path at the location that the preset names.
 */
function stepsTo(path: string, writable: readonly string[]): string[] {
  const top = writable.find((directory) => isInside(path, directory));
  if (top === undefined) {
    return [];
  }
  const steps = relative(top, dirname(path)).split('/').filter(Boolean);
  return steps.map((_, index) => join(top, ...steps.slice(0, index + 1)));
}

/** The dotfiles of a home directory, but for those that a preset names. */
export async function homeMounts(home: string, named: readonly string[]): Promise<Mount[]> {
  const entries = home === '/' ? [] : await readdir(home, { withFileTypes: true }).catch(() => []);
  const mounts: Mount[] = [];
  for (const entry of entries.filter(({ name }) => name.startsWith('.'))) {
    const path = await realLocation(join(home, entry.name));
    const facts = await lstat(path).catch(() => undefined);
    const holds = named.some((each) => isInside(each, path) || isInside(path, each));
    if (facts && !holds && (facts.isDirectory() || facts.isFile())) {
      mounts.push({ kind: 'blank', path, isDirectory: facts.isDirectory() });
    }
  }
  return mounts;
}

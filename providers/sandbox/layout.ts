import { lstat, mkdir, readlink, realpath } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { SandboxPreset } from '../../contracts/settings/sandbox';
import { gitMounts, type RecordedRepository } from './git-mounts';
import { hiddenMounts, homeMounts } from './hidden';
import type { Mount } from './mounts';
import { absolutePath, isInside, realLocation } from './paths';
import { SandboxError } from './sandbox-error';

export interface LayoutInput {
  files: SandboxPreset['filesystem'];
  /** Absolute, without links. */
  worktree: string;
  repository: RecordedRepository | undefined;
  /** The home directory of the user that the agent runs as. */
  home: string | undefined;
  /** The program of the agent. What the agent has started besides is shown no more for that. */
  program: string | undefined;
  /** What is never shown: the data directory of the service. */
  protectedPaths: readonly string[];
  /** What the operator shows to every run. */
  shownPaths: readonly string[];
  /** What is shown of it all the same: the document of the task. */
  given: readonly Mount[];
}

/** How much a directory for temporary files may hold, in bytes, and the root of a sandbox without the files of its host. */
const sizes = { temporary: 2_147_483_648, home: 268_435_456, other: 16_777_216 } as const;

const temporaryPaths = ['/tmp', '/var/tmp'];

/** Directories of the system that hold programs and their settings, and no work. */
const systemPaths = ['/usr', '/bin', '/sbin', '/lib', '/lib32', '/lib64', '/libx32', '/etc', '/nix/store'];

/**
 * What a run sees of the files of its host. Without `readPaths` that is everything, read-only, but for sockets and other
 * people's temporary files, the data of the service, and what the preset hides; with `readPaths` it is the system and
 * those. The worktree can be changed, or the `writePaths` of it.
 */
export async function layoutOf(input: LayoutInput): Promise<Mount[]> {
  const { files, worktree, home, program, protectedPaths } = input;
  const isSelective = files.readPaths.length > 0;
  const [reads, writes] = await Promise.all([
    locations(files.readPaths, input, 'readPaths'),
    locations(files.writePaths, input, 'writePaths'),
  ]);
  const outside = (paths: readonly string[]) => paths.filter((path) => !isInside(path, worktree));
  const [temporary, system] = isSelective
    ? [temporaryPaths, ['/run', '/sys']]
    : await Promise.all([existing(temporaryPaths), existing(['/run', '/sys'])]);
  const hiddenData = await existing(protectedPaths);
  return [
    ...(isSelective ? await systemMounts() : [{ kind: 'read', path: '/' } as const]),
    { kind: 'devices', path: '/dev' },
    { kind: 'processes', path: '/proc' },
    ...temporary.map((path): Mount => ({ kind: 'empty', path, bytes: sizes.temporary, mode: '1777' })),
    ...system.map((path): Mount => ({ kind: 'empty', path, bytes: sizes.other, mode: '0755' })),
    ...(await homeOf(input, isSelective, [...reads, ...writes])),
    ...outside(reads).map((path): Mount => ({ kind: 'read', path, optional: true })),
    ...(await existing(input.shownPaths)).map((path): Mount => ({ kind: 'read', path })),
    ...(program === undefined ? [] : await programMounts(program, home)),
    ...outside(writes).map((path): Mount => ({ kind: 'write', path })),
    ...hiddenData.map((path): Mount => ({ kind: 'empty', path, bytes: sizes.other, mode: '0755' })),
    ...worktreeMounts(worktree, { isSelective, reads, writes }),
    ...(input.repository === undefined ? [] : await gitMounts(input.repository, worktree)),
    ...input.given,
    ...(await hiddenMounts(files, worktree, writes.length === 0 ? [worktree] : writes)),
    ...[...system, ...hiddenData, ...(isSelective ? ['/'] : [])].map((path): Mount => ({ kind: 'sealed', path })),
  ];
}

function worktreeMounts(
  worktree: string,
  { isSelective, reads, writes }: { isSelective: boolean; reads: readonly string[]; writes: readonly string[] },
): Mount[] {
  const within = (paths: readonly string[]) => paths.filter((path) => isInside(path, worktree));
  const isReadable = !isSelective || reads.some((path) => isInside(worktree, path));
  if (isReadable && writes.length === 0) {
    return [{ kind: 'write', path: worktree }];
  }
  const top: Mount = isReadable
    ? { kind: 'read', path: worktree }
    : { kind: 'empty', path: worktree, bytes: sizes.other, mode: '0755' };
  // Without `writePaths` what may be read of the worktree may be changed.
  const kind = writes.length === 0 ? 'write' : 'read';
  return [
    top,
    ...(isReadable ? [] : within(reads).map((path): Mount => ({ kind, path }))),
    ...within(writes).map((path): Mount => ({ kind: 'write', path })),
  ];
}

/** Directories of a preset. Those to write that are missing in the worktree are made: an agent could not make them. */
async function locations(
  paths: readonly string[],
  { worktree, protectedPaths }: LayoutInput,
  field: 'readPaths' | 'writePaths',
): Promise<string[]> {
  const found: string[] = [];
  for (const path of paths.map((each) => absolutePath(each, worktree))) {
    const isOfWorktree = isInside(path, worktree);
    const real = await realLocation(path);
    if (isOfWorktree && real !== path) {
      throw new SandboxError(
        `${path} of ${field} is a symbolic link: a preset opens only what is in the worktree itself.`,
      );
    }
    if (!isOfWorktree && (await existing(protectedPaths)).some((each) => isInside(real, each))) {
      throw new SandboxError(`${path} of ${field} is in the data directory of the service, which no run sees.`);
    }
    if (!(await lstat(real).catch(() => undefined))) {
      if (!isOfWorktree) {
        throw new SandboxError(`${path} of ${field} does not exist on this host.`);
      }
      await mkdir(real, { recursive: true });
    }
    found.push(real);
  }
  return found;
}

/** The home directory: its dotfiles hidden, or an empty one where only some files of the host are shown. */
async function homeOf(
  { files, home, worktree }: LayoutInput,
  isSelective: boolean,
  named: readonly string[],
): Promise<Mount[]> {
  if (home === undefined || home === '/') {
    return [];
  }
  if (isSelective) {
    return [{ kind: 'empty', path: home, bytes: sizes.home }];
  }
  return files.dotfileMasking ? homeMounts(await realLocation(home), [...named, worktree]) : [];
}

/** The program with the files beside it, wherever it is installed. */
async function programMounts(program: string, home: string | undefined): Promise<Mount[]> {
  const real = await realpath(program).catch(() => program);
  const directory = dirname(real);
  // Directly in a home directory or at the top of the host, it shows nothing but itself.
  const isOwn = directory.split('/').length > 2 && directory !== home;
  const shown: Mount = { kind: 'read', path: isOwn ? directory : real };
  return real === program ? [shown] : [shown, { kind: 'read', path: program }];
}

async function systemMounts(): Promise<Mount[]> {
  const mounts = await Promise.all(
    systemPaths.map(async (path): Promise<Mount[]> => {
      const facts = await lstat(path).catch(() => undefined);
      if (!facts) {
        return [];
      }
      return facts.isSymbolicLink() ? [{ kind: 'link', path, target: await readlink(path) }] : [{ kind: 'read', path }];
    }),
  );
  return mounts.flat();
}

const existing = async (paths: readonly string[]): Promise<string[]> => {
  const real = await Promise.all(paths.map((path) => realpath(path).catch(() => '')));
  return real.filter((path) => path !== '');
};

export const runtimeDirectory = '/run/board';
/** Where a file of the worker is in a sandbox. */
export const inRuntime = (name: string): string => join(runtimeDirectory, name);

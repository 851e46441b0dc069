import { access, constants, mkdir, readdir, readFile, rmdir, stat, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';

/** Where this process may make control groups that limit a resource, and how. */
export interface GroupHierarchy {
  directory: string;
  memoryFile?: string | undefined;
  processesFile?: string | undefined;
}

const parentName = 'runboard-sandboxes';
const root = '/sys/fs/cgroup';

/** The hierarchies in which this process can make groups; none where they are read-only, or another's. */
export async function groupHierarchies(): Promise<GroupHierarchy[]> {
  const own = await readFile('/proc/self/cgroup', 'utf8').catch(() => '');
  const found: GroupHierarchy[] = [];
  for (const line of own.split('\n')) {
    const [, controllers = '', path = ''] = /^\d+:([^:]*):(.*)$/.exec(line) ?? [];
    const hierarchy = controllers === '' ? await unified(path) : await versionOne(controllers, path);
    if (hierarchy) {
      found.push(hierarchy);
    }
  }
  return found;
}

/** Version 1: a hierarchy for each controller. */
async function versionOne(controllers: string, path: string): Promise<GroupHierarchy | undefined> {
  const names = controllers.split(',');
  const files = {
    ...(names.includes('memory') ? { memoryFile: 'memory.limit_in_bytes' } : {}),
    ...(names.includes('pids') ? { processesFile: 'pids.max' } : {}),
  };
  const directory = join(root, controllers, path, parentName);
  return Object.keys(files).length > 0 && (await canMake(directory)) ? { directory, ...files } : undefined;
}

/** Version 2: the group has to be delegated to this process, with its controllers turned on for groups in it. */
async function unified(path: string): Promise<GroupHierarchy | undefined> {
  const parent = join(root, path);
  const turnedOn = (await readFile(join(parent, 'cgroup.subtree_control'), 'utf8').catch(() => '')).trim().split(/\s+/);
  const files = {
    ...(turnedOn.includes('memory') ? { memoryFile: 'memory.max' } : {}),
    ...(turnedOn.includes('pids') ? { processesFile: 'pids.max' } : {}),
  };
  const directory = join(parent, parentName);
  if (Object.keys(files).length === 0 || !(await canMake(directory))) {
    return undefined;
  }
  await writeFile(join(directory, 'cgroup.subtree_control'), '+memory +pids').catch(() => undefined);
  return { directory, ...files };
}

async function canMake(directory: string): Promise<boolean> {
  try {
    await mkdir(directory, { recursive: true });
    await access(join(directory, 'cgroup.procs'), constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

/**
 * Makes the control groups of one run, or sets the limits of those there are.
 *
 * @returns the files by which a process enters them
 */
export async function makeGroups(
  hierarchies: readonly GroupHierarchy[],
  name: string,
  { memoryBytes, processes }: { memoryBytes?: number | undefined; processes?: number | undefined },
): Promise<string[]> {
  const entries: string[] = [];
  for (const { directory, memoryFile, processesFile } of hierarchies) {
    const limits = [
      [memoryFile, memoryBytes],
      [processesFile, processes],
    ].filter((limit): limit is [string, number] => limit.every((part) => part !== undefined));
    if (limits.length === 0) {
      continue;
    }
    const group = join(directory, basename(name));
    await mkdir(group, { recursive: true });
    for (const [file, value] of limits) {
      await writeFile(join(group, file), String(value));
    }
    entries.push(join(group, 'cgroup.procs'));
  }
  return entries;
}

/** Removes the groups of a run that has ended; one that still has processes stays. */
export async function removeGroups(hierarchies: readonly GroupHierarchy[], name: string): Promise<void> {
  await Promise.all(hierarchies.map(({ directory }) => rmdir(join(directory, basename(name))).catch(() => undefined)));
}

/** A group this old without processes is that of a worker that was killed, in milliseconds. */
const abandonedAfterMs = 3_600_000;

/** Removes the groups that workers which were killed have left; one that has processes stays. */
export async function removeAbandonedGroups(hierarchies: readonly GroupHierarchy[], now = Date.now()): Promise<void> {
  for (const { directory } of hierarchies) {
    const entries = await readdir(directory, { withFileTypes: true }).catch(() => []);
    const groups = entries.filter((entry) => entry.isDirectory()).map(({ name }) => join(directory, name));
    await Promise.all(groups.map((group) => removeAbandoned(group, now)));
  }
}

async function removeAbandoned(group: string, now: number): Promise<void> {
  const facts = await stat(group).catch(() => undefined);
  if (facts && now - facts.ctimeMs > abandonedAfterMs) {
    await rmdir(group).catch(() => undefined);
  }
}

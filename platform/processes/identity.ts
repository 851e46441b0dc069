import { readFileSync, readlinkSync } from 'node:fs';
import {
  environmentHolds,
  environmentOf,
  type ProcessMarker,
  searchEnvironments,
} from './environment/process-environments';
import { type ProcessEntry, readProcess, readProcessNow, readProcessTable } from './process-table';

/**
 * Names one process for good: a pid alone is reused after a while, a pid with its start time is not, and neither means anything
 * on another host or after a reboot.
 */
export interface ProcessIdentity {
  pid: number;
  /** In the system's own notation (clock ticks since boot on Linux); compared, never calculated with. */
  startTime: string;
  /** Changes with every boot and differs between hosts; empty where the system has none. */
  bootId: string;
}

export type { ProcessMarker } from './environment/process-environments';

const bootId = (() => {
  let cached: string | undefined;
  return (): string => {
    if (cached === undefined) {
      try {
        cached = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
      } catch {
        cached = '';
      }
    }
    return cached;
  };
})();

const identityOf = ({ pid, startTime }: ProcessEntry): ProcessIdentity => ({ pid, startTime, bootId: bootId() });

/** The identity of a running process; `undefined` when there is none or only its zombie remains. */
export async function identify(pid: number): Promise<ProcessIdentity | undefined> {
  const entry = await readProcess(pid);
  return entry && !entry.zombie ? identityOf(entry) : undefined;
}

/**
 * The identity of a child of this process, to be called in the same turn as its spawn: a child that has ended already
 * still has its entry then.
 */
export function identifyChild(pid: number): ProcessIdentity | undefined {
  const entry = readProcessNow(pid);
  return entry && identityOf(entry);
}

/** Whether the process that `identity` names is still running here. Zombies are not. */
export async function isSameProcess(identity: ProcessIdentity): Promise<boolean> {
  if (!isOfThisBoot(identity)) {
    return false;
  }
  return (await identify(identity.pid))?.startTime === identity.startTime;
}

/** Whether an identity is of this boot of this host: all others mean nothing here. */
export const isOfThisBoot = (identity: Pick<ProcessIdentity, 'bootId'>): boolean => identity.bootId === bootId();

/** A process whose pid is judged by other processes of its machine, which may see other pids than it does. */
export interface VisibleProcess extends ProcessIdentity {
  /** Within which its pid means anything: containers of one machine share its boot and not their pids. Empty where there is none. */
  pidNamespace: string;
}

const pidNamespace = (): string => {
  try {
    return readlinkSync('/proc/self/ns/pid');
  } catch {
    return '';
  }
};

/** This very process, as other processes of the machine may judge it. */
export async function identifySelf(): Promise<VisibleProcess> {
  const self = await identify(process.pid);
  if (!self) {
    throw new Error('This process cannot determine its own identity.');
  }
  return { ...self, pidNamespace: pidNamespace() };
}

/** Whether the process certainly runs no more: never certain for another machine, boot or container. */
export async function isGone(identity: VisibleProcess): Promise<boolean> {
  if (!isOfThisBoot(identity) || identity.pidNamespace !== pidNamespace()) {
    return false;
  }
  return !(await isSameProcess(identity));
}

/**
 * Whether a process was started with `name=value` in its environment; `undefined` where that cannot be determined: outside
 * Linux, of a process this user may not inspect, or of one that shows no environment because it is about to be gone.
 */
export const startedWith = (pid: number, name: string, value: string): boolean | undefined =>
  startedWithAny(pid, [{ name, value }]);

function startedWithAny(pid: number, markers: readonly ProcessMarker[]): boolean | undefined {
  const environment = environmentOf(pid);
  return environment.length === 0 ? undefined : markers.some((marker) => environmentHolds(environment, marker));
}

/** Whether a group has members, zombies included: a cheap question before the whole table is read. */
function groupExists(groupId: number): boolean {
  try {
    return process.kill(-groupId, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/** The running members of a process group (of two or more: 0 and 1 mean something else to the system). */
export async function findGroup(groupId: number): Promise<ProcessIdentity[]> {
  if (groupId <= 1 || !groupExists(groupId)) {
    return [];
  }
  const table = await readProcessTable();
  return table.filter((entry) => entry.groupId === groupId && !entry.zombie).map(identityOf);
}

/** The identity of a running process that was seen a moment ago. */
function identifyNow(pid: number): ProcessIdentity | undefined {
  const entry = readProcessNow(pid);
  return entry && !entry.zombie ? identityOf(entry) : undefined;
}

/** Running processes that were started with a variable in their environment, and its value. Linux only, as below. */
export function findEnvironment(name: string): Promise<{ identity: ProcessIdentity; value: string }[]> {
  const start = Buffer.from(`${name}=`);
  return searchEnvironments((pid, environment) => {
    // Most processes have no such variable: theirs are not taken apart.
    if (!environment.includes(start)) {
      return undefined;
    }
    const entry = environment
      .toString('utf8')
      .split('\0')
      .find((each) => each.startsWith(`${name}=`));
    const identity = entry === undefined ? undefined : identifyNow(pid);
    return identity && entry !== undefined ? { identity, value: entry.slice(name.length + 1) } : undefined;
  });
}

/**
 * Running processes that were started with `name=value` in their environment; it is inherited, so this finds
 * descendants that left their parent's group. Linux only (elsewhere empty), and only processes this user may inspect.
 */
export const findByEnvironment = (name: string, value: string): Promise<ProcessIdentity[]> =>
  findMarked([{ name, value }]);

/** Likewise for any of several variables. */
export const findMarked = (markers: readonly ProcessMarker[]): Promise<ProcessIdentity[]> =>
  searchEnvironments((pid, environment) =>
    markers.some((marker) => environmentHolds(environment, marker)) ? identifyNow(pid) : undefined,
  );

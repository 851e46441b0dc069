import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import type { LimitMechanism, SandboxFeatures } from '../../domain/sandbox/support';
import { isExecutable } from '../../platform/processes/find-command';
import { cut } from '../../platform/text/cut';
import { type AgentUser, asUser } from '../agents/user/agent-user';
import { confined, type SandboxTools } from './confine';
import { groupHierarchies, type GroupHierarchy, removeAbandonedGroups } from './control-groups';
import type { Mount } from './mounts';

/** What a host can confine its runs with, and what it lacks for that. */
export type ProbedSandbox =
  | { tools: SandboxTools; groups: GroupHierarchy[]; features: SandboxFeatures; missing: string[] }
  | { features?: undefined; missing: string[] };

const limits = { timeout: 10_000, maxBuffer: 65_536 } as const;

/** Prints `confined` only when it has no capability, is in a process namespace, and cannot write to the system. */
const attempt = `grep -q '^CapEff:[[:space:]]*0*$' /proc/self/status && ! touch /usr/.runboard-sandbox 2>/dev/null && [ "$$" -lt 64 ] && echo confined`;

const mounts: Mount[] = [
  { kind: 'read', path: '/' },
  { kind: 'devices', path: '/dev' },
  { kind: 'processes', path: '/proc' },
  { kind: 'empty', path: '/tmp', bytes: 65_536 },
];

/** Finds out what the sandbox of this host does by starting a program in one, as the user that agents run as. */
export async function probeSandbox(user?: AgentUser): Promise<ProbedSandbox> {
  if (process.platform !== 'linux') {
    return { missing: ['A sandbox needs Linux.'] };
  }
  const [bwrap, env, prlimit] = ['bwrap', 'env', 'prlimit'].map(findTool);
  if (bwrap === undefined || env === undefined) {
    return { missing: ['bwrap (package bubblewrap) is not installed.'] };
  }
  const tools = { bwrap, env, prlimit };
  const version = /(\d+\.\d+\S*)/.exec((await output(bwrap, ['--version'])).text)?.[1] ?? 'unknown';
  const files = await runs(tools, true, user);
  if (!files.ok) {
    return { missing: [`bwrap ${version} is there and cannot start anything: ${files.text}`] };
  }
  const network = await runs(tools, false, user);
  const groups = await groupHierarchies();
  await removeAbandonedGroups(groups);
  const uid = user?.uid ?? process.getuid?.();
  const perProcess: LimitMechanism = prlimit === undefined ? 'none' : 'rlimit';
  const features: SandboxFeatures = {
    version,
    network: network.ok,
    memory: groups.some(({ memoryFile }) => memoryFile !== undefined) ? 'cgroup' : perProcess,
    // The kernel does not count the processes of root.
    processes: groups.some(({ processesFile }) => processesFile !== undefined)
      ? 'cgroup'
      : uid === 0
        ? 'none'
        : perProcess,
  };
  return { tools, groups, features, missing: missingFrom(features, network.text) };
}

function missingFrom({ network, memory, processes }: SandboxFeatures, problem: string): string[] {
  return [
    ...(network ? [] : [`It cannot have a network of its own: ${problem}`]),
    ...(memory === 'none' ? ['Nothing limits its memory: there is no control group and no prlimit.'] : []),
    ...(processes === 'none' ? ['Nothing limits how many processes it has: there is no control group for it.'] : []),
  ];
}

async function runs(
  tools: SandboxTools,
  sharesNetwork: boolean,
  user: AgentUser | undefined,
): Promise<{ ok: boolean; text: string }> {
  const stand = { locked: '/dev/null', blank: '/dev/null' };
  const confinement = { tools, stand, mounts, sharesNetwork, limits: {}, groups: [] };
  const { path, args } = confined({ path: '/bin/sh', args: ['-c', attempt] }, confinement, (program) =>
    user ? asUser(user, program) : program,
  );
  const { text } = await output(path, args);
  return { ok: text === 'confined', text: text || 'it printed nothing' };
}

async function output(path: string, args: readonly string[]): Promise<{ text: string }> {
  try {
    const { stdout, stderr } = await promisify(execFile)(path, args, { ...limits, env: { PATH: toolPaths.join(':') } });
    return { text: cut(stdout.trim() || stderr.trim(), 500) };
  } catch (error) {
    const { stderr = '', message } = error as Error & { stderr?: string };
    return { text: cut(stderr.trim() || message, 500) };
  }
}

/** Directories of the system: a program of a user would not be trusted with this. */
const toolPaths = ['/usr/bin', '/bin', '/usr/sbin', '/sbin', '/usr/local/bin', '/run/current-system/sw/bin'];

const findTool = (name: string): string | undefined =>
  toolPaths.map((directory) => `${directory}/${name}`).find(isExecutable);

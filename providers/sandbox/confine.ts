import type { Mount, Stand } from './mounts';
import { mountArguments } from './mounts';

/** The programs of a host that a sandbox is made of, as absolute paths. */
export interface SandboxTools {
  bwrap: string;
  /** Of coreutils: gives a program the usual effect of signals. */
  env: string;
  /** Of util-linux; absent where there is none. */
  prlimit?: string | undefined;
}

export interface Confinement {
  tools: SandboxTools;
  stand: Stand;
  mounts: readonly Mount[];
  /** Whether the processes share the network of their host. */
  sharesNetwork: boolean;
  limits: { memoryBytes?: number | undefined; processes?: number | undefined };
  /** Files of control groups that the processes enter. */
  groups: readonly string[];
  /** Started before the program, with it as its arguments: the relay to the proxy. */
  relay?: readonly string[] | undefined;
}

interface Program {
  path: string;
  args: readonly string[];
}

/** Signals for the group of an agent are the agent's: bubblewrap and what limits it stay until it has ended. */
const signals = ['TERM', 'HUP', 'INT', 'QUIT'];

/**
 * Enters control groups and becomes bubblewrap. It ignores signals for the group, and so does bubblewrap after it, whose end
 * ends everything in it; `env` gives them their effect again inside.
 */
const entry = String.raw`
trap '' ${signals.join(' ')}
while [ "$1" != -- ]; do echo $$ >"$1" || exit 126; shift; done
shift
exec "$@"
`;

/**
 * A program as it is started in a sandbox.
 *
 * @param as the sandbox itself as it is started by its user
 */
export function confined(
  { path, args }: Program,
  { tools, stand, mounts, sharesNetwork, limits, groups, relay = [] }: Confinement,
  as: (sandbox: Program) => Program = (sandbox) => sandbox,
): { path: string; args: string[] } {
  const sandbox = as({
    path: tools.bwrap,
    args: [
      ...[...isolation, ...(sharesNetwork ? [] : ['--unshare-net'])],
      ...[...mountArguments(mounts, stand), '--'],
      ...limitArguments(tools.prlimit, limits),
      ...relay,
      ...[tools.env, `--default-signal=${signals.join(',')}`, '--', path, ...args],
    ],
  });
  return { path: '/bin/sh', args: ['-c', entry, 'sh', ...groups, '--', sandbox.path, ...sandbox.args] };
}

/** Whatever becomes of the processes inside, they have no privileges and cannot make namespaces to get some. */
const isolation = [
  ...['--unshare-user', '--unshare-pid', '--unshare-ipc', '--unshare-uts', '--unshare-cgroup-try'],
  ...['--disable-userns', '--assert-userns-disabled', '--cap-drop', 'ALL'],
  ...['--hostname', 'sandbox', '--die-with-parent'],
];

/** Limits of each process; a core file would be written into the worktree. */
function limitArguments(prlimit: string | undefined, { memoryBytes, processes }: Confinement['limits']): string[] {
  if (prlimit === undefined) {
    return [];
  }
  return [
    ...[prlimit, '--core=0'],
    ...(memoryBytes === undefined ? [] : [`--data=${memoryBytes}`]),
    ...(processes === undefined ? [] : [`--nproc=${processes}`]),
    '--',
  ];
}

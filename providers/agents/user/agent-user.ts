import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { isExecutable } from '../../../platform/processes/find-command';

/** The user that agents run as, where that is another one than the worker's. */
export interface AgentUser {
  uid: number;
  gid: number;
  /** Its supplementary groups. */
  groups: number[];
  name: string;
  home: string;
  shell: string;
  /** The program that starts others as this user: setpriv of util-linux. */
  setpriv: string;
}

/** The setting `BOARD_AGENT_USER` cannot be honoured on this host; the message states why and what to do. */
export class AgentUserError extends Error {
  override readonly name = 'AgentUserError';
}

/** What the worker does to and for processes and files of another user, as bits of its effective capabilities. */
const capabilities = { CHOWN: 0, DAC_OVERRIDE: 1, FOWNER: 3, KILL: 5, SETGID: 6, SETUID: 7, SYS_PTRACE: 19 } as const;

const setprivPaths = ['/usr/bin/setpriv', '/bin/setpriv', '/usr/sbin/setpriv', '/sbin/setpriv'];

/**
 * Finds the user by its name or number, and makes sure that this process can start, watch and end processes of it.
 *
 * @throws AgentUserError
 */
export function findAgentUser(setting: string): AgentUser {
  if (process.platform !== 'linux') {
    throw new AgentUserError('BOARD_AGENT_USER needs Linux.');
  }
  const missing = missingCapabilities();
  if (missing.length > 0) {
    throw new AgentUserError(
      `BOARD_AGENT_USER: the worker has to be root, or to have the capabilities ${missing.map((name) => `CAP_${name}`).join(', ')}.`,
    );
  }
  // Without it, a file of another user could be linked into a worktree, and its owner changed with it.
  if (read('/proc/sys/fs/protected_hardlinks')?.trim() !== '1') {
    throw new AgentUserError('BOARD_AGENT_USER needs the kernel setting fs.protected_hardlinks = 1.');
  }
  const setpriv = setprivPaths.find(isExecutable);
  if (setpriv === undefined) {
    throw new AgentUserError('BOARD_AGENT_USER needs setpriv (package util-linux).');
  }
  const user = findUser(setting);
  if (user.uid === 0 || user.uid === process.getuid?.()) {
    throw new AgentUserError(`BOARD_AGENT_USER: ${setting} is root or the worker's own user; name another one.`);
  }
  return { ...user, setpriv };
}

function missingCapabilities(): string[] {
  const mask = BigInt(`0x${/^CapEff:\s*([0-9a-f]+)/m.exec(read('/proc/self/status') ?? '')?.[1] ?? '0'}`);
  return Object.entries(capabilities).flatMap(([name, bit]) => ((mask >> BigInt(bit)) & 1n ? [] : [name]));
}

function findUser(setting: string): Omit<AgentUser, 'setpriv'> {
  const entry = ask('getent', ['passwd', setting]);
  const [name, , uid, gid, , home, shell] = (entry ?? '').split(':');
  if (entry !== undefined && name) {
    const groups = (ask('id', ['-G', name]) ?? '').split(' ').filter(Boolean).map(Number);
    return {
      uid: Number(uid),
      gid: Number(gid),
      groups: groups.filter((group) => group !== Number(gid)),
      name,
      home: home || '/',
      shell: shell || '/bin/sh',
    };
  }
  if (!/^[1-9]\d{0,8}$/.test(setting)) {
    throw new AgentUserError(`BOARD_AGENT_USER: there is no user ${setting}.`);
  }
  const id = Number(setting);
  return { uid: id, gid: id, groups: [], name: setting, home: '/', shell: '/bin/sh' };
}

function ask(program: string, args: string[]): string | undefined {
  try {
    return execFileSync(program, args, {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
      timeout: 10_000,
    }).trim();
  } catch {
    return undefined;
  }
}

function read(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}

/** A program as it is started to run as that user: with its groups and no others, and no way to more by setuid programs. */
export function asUser(
  { setpriv, uid, gid, groups }: AgentUser,
  { path, args }: { path: string; args: readonly string[] },
): { path: string; args: string[] } {
  const supplementary = groups.length === 0 ? ['--clear-groups'] : ['--groups', groups.join(',')];
  const identity = ['--reuid', String(uid), '--regid', String(gid), ...supplementary];
  return { path: setpriv, args: [...identity, '--inh-caps=-all', '--no-new-privs', '--', path, ...args] };
}

/** What a program finds out about its user from its environment. The directory for temporary files is the system's. */
export function userEnvironment(
  variables: Record<string, string>,
  { name, home, shell }: AgentUser,
): Record<string, string> {
  const { TMPDIR: _ours, ...rest } = variables;
  return { ...rest, HOME: home, USER: name, LOGNAME: name, SHELL: shell };
}

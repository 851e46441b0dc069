import { chmod, mkdir, realpath, writeFile } from 'node:fs/promises';
import type { Socket } from 'node:net';
import { join } from 'node:path';
import type { RunEventInput } from '../../contracts/runs/event';
import type { SandboxEvidence } from '../../contracts/runs/launch/host-sandbox';
import type { SandboxPreset } from '../../contracts/settings/sandbox';
import { networkModeOf } from '../../domain/sandbox/network';
import { compiledScript } from '../../platform/processes/compiled-script';
import { type AgentUser, asUser } from '../agents/user/agent-user';
import { confined, type Confinement } from './confine';
import { makeGroups, removeGroups } from './control-groups';
import { EgressLog } from './egress-log';
import { socketName, startEgressProxy } from './egress-proxy';
import type { Resolve } from './egress-target';
import { checkedOutBranch, type RecordedRepository, releaseGit } from './git-mounts';
import { inRuntime, layoutOf } from './layout';
import type { Mount, Stand } from './mounts';
import type { ProbedSandbox } from './probe';
import { SandboxError } from './sandbox-error';
import type { SandboxHost } from './sandbox-host';
import { openServing } from './serving';

/** What a run is confined to. */
export interface RunSandboxInput {
  attemptId: string;
  preset: SandboxPreset;
  worktreePath: string;
  /** The administrative directory of the worktree, and its branch, as they were recorded before the agent ran. */
  gitDir?: string | undefined;
  branch?: string | undefined;
  /** The program of the agent, which is shown with the files beside it. */
  program?: string | undefined;
  /** Where files that belong to the attempt are, beside the document that it is given. */
  directory: string;
  /** Files of the attempt that its agent reads. */
  given: readonly string[];
  home?: string | undefined;
  user?: AgentUser | undefined;
  /** Whether the agent acts in the name of its attempt, for which it has to reach the API. */
  callsApi: boolean;
  resolve?: Resolve | undefined;
  /** The port that its program serves, which needs a network of its own. */
  serves?: number | undefined;
}

interface Program {
  path: string;
  args: readonly string[];
}

/** The sandbox of one run: everything that is started for the run is started in it. */
export interface RunSandbox {
  /** The program as it is started in the sandbox. @throws SandboxError */
  wrap: (program: Program) => Promise<Program>;
  /** Variables that what is started has besides. */
  environment: Record<string, string>;
  evidence(): SandboxEvidence;
  /** Connects to the port that its program serves. @throws Error while that is not there */
  connect: () => Promise<Socket>;
  /** Receives what leaves the sandbox, from now on and before. */
  observe: (emit: (event: RunEventInput) => void) => void;
  /** @param detached the agent goes on: the next worker opens the sandbox again */
  close(detached: boolean): Promise<void>;
}

/** The port of the relay in a sandbox's own network. */
const relayPort = 3128;
/** How many processes a run may have when its preset sets no limit. */
const defaultProcesses = 2_048;

/** The directory of the socket of an attempt's proxy. */
export const egressDirectory = (directory: string, attemptId: string): string => join(directory, `${attemptId}.net`);

/**
 * Opens the sandbox of a run on this host: its proxy, its limits, and what its programs are started with.
 *
 * @throws SandboxError when the host cannot do it, or the preset does not fit the worktree
 */
export async function openRunSandbox(host: SandboxHost, input: RunSandboxInput): Promise<RunSandbox> {
  const probed = await host.probe();
  if (!probed.features) {
    throw new SandboxError(`This host cannot confine the run: ${probed.missing.join(' ')}`);
  }
  const { preset, attemptId, directory } = input;
  const exceptions = input.callsApi && host.apiAddress !== undefined ? [host.apiAddress] : [];
  const network = networkModeOf(preset.network, exceptions);
  if (network !== 'shared' && !probed.features.network) {
    throw new SandboxError(`This host cannot confine the network of the run: ${probed.missing.join(' ')}`);
  }
  if (network === 'shared' && input.serves !== undefined) {
    throw new SandboxError('What serves a port needs a network of its own.');
  }
  const worktree = await realpath(input.worktreePath);
  const repository = await repositoryOf(input);
  const stand = await standIn(directory);
  const limits = limitsOf(preset);
  const groups = await makeGroups(probed.groups, attemptId, limits);
  const emitter = createEmitter();
  const log = new EgressLog(emitter.emit);
  const proxyDirectory = egressDirectory(directory, attemptId);
  const closeProxy =
    network === 'proxy'
      ? await startEgressProxy({
          directory: proxyDirectory,
          policy: { network: preset.network, exceptions },
          log,
          resolve: input.resolve,
        })
      : undefined;
  const relayed = network === 'proxy' ? relayOf(proxyDirectory) : { relay: undefined, mounts: [] };
  const serving =
    input.serves === undefined ? undefined : await openServing(directory, { id: attemptId, port: input.serves });
  let shown: Pick<SandboxEvidence, 'writable' | 'hidden'> = { writable: [], hidden: [] };

  return {
    wrap: async (program) => {
      const mounts = await layoutOf({
        files: preset.filesystem,
        worktree,
        repository,
        home: input.home,
        program: input.program,
        protectedPaths: host.protectedPaths,
        shownPaths: host.shownPaths ?? [],
        given: [
          ...input.given.map((path): Mount => ({ kind: 'read', path, optional: true })),
          ...relayed.mounts,
          ...(serving?.mounts ?? []),
        ],
      });
      shown = shownIn(mounts);
      const confinement: Confinement = {
        tools: probed.tools,
        stand,
        mounts,
        sharesNetwork: network === 'shared',
        limits: rlimitsOf(limits, probed),
        groups,
        relay: [...(relayed.relay ?? []), ...(serving?.relay ?? [])],
      };
      return confined(program, confinement, (sandbox) => (input.user ? asUser(input.user, sandbox) : sandbox));
    },
    environment: { TMPDIR: '/tmp', ...gitEnvironment, ...(network === 'proxy' ? proxyEnvironment : {}) },
    evidence: () => ({
      mechanism: 'bubblewrap',
      version: probed.features.version,
      presetId: preset.id,
      network,
      ...shown,
      limits: {
        memory: {
          mechanism: limits.memoryBytes === undefined ? 'none' : probed.features.memory,
          value: limits.memoryBytes ?? null,
        },
        processes: { mechanism: probed.features.processes, value: limits.processes },
      },
      ...(network === 'proxy' ? { egress: log.summary() } : {}),
    }),
    observe: emitter.observe,
    connect: async () => {
      if (!serving) {
        throw new Error('The program serves no port.');
      }
      return serving.connect();
    },
    async close(detached) {
      await serving?.close();
      await closeProxy?.({ keepsDirectory: detached });
      if (!detached) {
        await (repository && releaseGit(repository));
        await removeGroups(probed.groups, attemptId);
      }
    },
  };
}

async function repositoryOf({ gitDir, branch }: RunSandboxInput): Promise<RecordedRepository | undefined> {
  return gitDir === undefined ? undefined : { gitDir, branch: branch ?? (await checkedOutBranch(gitDir)) };
}

type Working = Extract<ProbedSandbox, { tools: unknown }>;

const limitsOf = ({ resources }: SandboxPreset) => ({
  memoryBytes: resources?.memoryMb === undefined ? undefined : resources.memoryMb * 1_048_576,
  processes: resources?.processes ?? defaultProcesses,
});

/** What control groups do not limit is limited for each process, or user, where that is possible. */
const rlimitsOf = (limits: ReturnType<typeof limitsOf>, { features }: Working): Confinement['limits'] => ({
  memoryBytes: features.memory === 'rlimit' ? limits.memoryBytes : undefined,
  processes: features.processes === 'rlimit' ? limits.processes : undefined,
});

/** Node and the relay, as the sandbox has them. */
function relayOf(proxyDirectory: string): { relay: string[]; mounts: Mount[] } {
  const [node, script, net] = ['node', 'relay.cjs', 'net'].map(inRuntime) as [string, string, string];
  const compiled = compiledScript(__dirname, 'relay-process.js');
  return {
    relay: [node, script, join(net, socketName), String(relayPort)],
    mounts: [
      { kind: 'read', source: process.execPath, path: node },
      { kind: 'read', source: compiled, path: script },
      { kind: 'read', source: proxyDirectory, path: net },
    ],
  };
}

const proxyUrl = `http://127.0.0.1:${relayPort}`;
const proxyNames = ['HTTP_PROXY', 'HTTPS_PROXY', 'ALL_PROXY'].flatMap((name) => [name, name.toLowerCase()]);
const proxyEnvironment: Record<string, string> = {
  ...Object.fromEntries(proxyNames.map((name) => [name, proxyUrl])),
  NO_PROXY: '',
  no_proxy: '',
  NODE_USE_ENV_PROXY: '1',
};

/** Packs of the repository cannot be made in a sandbox: git does not try. */
const gitEnvironment: Record<string, string> = {
  GIT_CONFIG_COUNT: '2',
  GIT_CONFIG_KEY_0: 'gc.auto',
  GIT_CONFIG_VALUE_0: '0',
  GIT_CONFIG_KEY_1: 'maintenance.auto',
  GIT_CONFIG_VALUE_1: 'false',
};

/** Two empty files that stand for hidden ones. */
async function standIn(directory: string): Promise<Stand> {
  await mkdir(directory, { recursive: true, mode: 0o700 });
  const stand = { locked: join(directory, 'sandbox.locked'), blank: join(directory, 'sandbox.blank') };
  for (const [path, mode] of [
    [stand.locked, 0o000],
    [stand.blank, 0o444],
  ] as const) {
    await writeFile(path, '', { flag: 'wx' }).catch((error: unknown) => {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') {
        throw error;
      }
    });
    await chmod(path, mode);
  }
  return stand;
}

/** The most paths that evidence names of each kind. */
const mostPaths = 64;

const shownIn = (mounts: readonly Mount[]): Pick<SandboxEvidence, 'writable' | 'hidden'> => {
  const paths = (...kinds: Mount['kind'][]) =>
    [...new Set(mounts.filter(({ kind }) => kinds.includes(kind)).map(({ path }) => path))].slice(0, mostPaths);
  return { writable: paths('write'), hidden: paths('hidden', 'blank') };
};

/** Passes events on once there is an observer, and until then keeps them. */
function createEmitter() {
  const waiting: RunEventInput[] = [];
  let observer: ((event: RunEventInput) => void) | undefined;
  return {
    emit: (event: RunEventInput): void => {
      if (observer) {
        observer(event);
      } else {
        waiting.push(event);
      }
    },
    observe: (emit: (event: RunEventInput) => void): void => {
      observer = emit;
      waiting.splice(0).forEach(emit);
    },
  };
}

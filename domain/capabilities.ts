import type { ProviderRuntimeManifest } from '../contracts/runs/launch/contract';
import type { HostSandbox } from '../contracts/runs/launch/host-sandbox';
import type { ProviderFamily } from '../contracts/settings/agent-config';
import { compact } from '../platform/json/compact';
import { digestOf, withDigest } from '../platform/json/digest';
import { isSameJson } from '../platform/json/same';

type Capability = ProviderRuntimeManifest['capabilities'][number];

/** Every capability a manifest speaks of, in the order it lists them. */
export const capabilityIds = [
  'run.start',
  'run.stop',
  'run.status',
  'run.logs',
  'run.complete',
  'run.streaming',
  'run.structured-events',
  'run.follow-up',
  'run.steer',
  'run.interrupt',
  'run.resume',
  'run.fork',
  'run.compact',
  'run.archive',
  'run.close',
  'run.reattach',
  'run.approvals',
  'run.elicitation',
  'tool.calls',
  'tool.parallel',
  'tool.mcp',
  'output.structured',
  'usage.tokens',
  'artifact.write',
  'workspace.worktrees',
  'filesystem.read',
  'filesystem.write',
  'filesystem.deny-paths',
  'filesystem.dotfile-masking',
  'filesystem.protected-metadata',
  'filesystem.descendants',
  'filesystem.run-scoped-temp',
  'filesystem.cleanup',
  'network.disable',
  'network.allowlist',
  'network.block-private',
  'network.block-metadata',
  'environment.allowlist',
  'credential.broker',
] as const;

/** What each provider family does, as its contract tests show. Everything not named is unsupported. */
const supported: Record<ProviderFamily, readonly string[]> = {
  process: [
    'run.start',
    'run.stop',
    'run.status',
    'run.logs',
    'run.complete',
    'run.streaming',
    'run.structured-events',
    'output.structured',
    'usage.tokens',
    'workspace.worktrees',
    'filesystem.read',
    'filesystem.write',
    'environment.allowlist',
  ],
  acp: [
    'run.start',
    'run.stop',
    'run.status',
    'run.logs',
    'run.complete',
    'run.streaming',
    'run.structured-events',
    'run.steer',
    'run.interrupt',
    'workspace.worktrees',
    'filesystem.read',
    'filesystem.write',
    'environment.allowlist',
  ],
  'remote-callback': [
    'run.start',
    'run.stop',
    'run.status',
    'run.logs',
    'run.complete',
    'usage.tokens',
    'workspace.worktrees',
  ],
};

/** Why nothing is enforced of an agent that has not declared to use only the tools offered to it. */
const ownTools = 'nothing keeps it from using tools of its own without asking.';

const advisory: Record<ProviderFamily, Readonly<Record<string, string>>> = {
  process: {
    'run.steer': 'Messages are written to its standard input; whether it reads them is up to the agent.',
    'run.interrupt': 'The request is written to its standard input; whether it heeds it is up to the agent.',
    'run.compact': 'The request is written to its standard input; whether it heeds it is up to the agent.',
    'run.approvals': 'The agent asks by itself; nothing keeps it from acting without asking.',
    'run.elicitation': 'The agent asks by itself, and is answered on its standard input.',
    'run.resume': 'The agent is given how the earlier run can be gone on with; whether it does is up to it.',
    'run.follow-up': 'The agent is given how the earlier run can be gone on with; whether it does is up to it.',
    'artifact.write': 'Artifacts are recorded as the agent reports them; their content is not captured.',
  },
  acp: {
    'run.approvals': `The agent asks by itself; ${ownTools}`,
    'tool.calls': `Files and commands of ours, and what it asks permission for, pass the rules of the run; ${ownTools}`,
    'usage.tokens': 'Agents report the size of their context and what the session costs, not the tokens of each turn.',
  },
  'remote-callback': {
    'run.stop': 'The run ends here at once; the agent elsewhere learns of it when it next asks.',
  },
};

/** The capabilities that an agent may declare by its response to a probe. */
const declarable: readonly string[] = [
  'run.steer',
  'run.interrupt',
  'run.compact',
  'run.archive',
  'run.close',
  'run.resume',
  'run.follow-up',
  'run.fork',
  'run.reattach',
  // An agent of the Agent Client Protocol that reads, writes and runs only through Runboard.
  'run.approvals',
  'tool.calls',
  'filesystem.deny-paths',
  'filesystem.descendants',
];

/** What an agent of the Agent Client Protocol may turn out to do when it is probed. */
const acpMayShow: readonly string[] = [
  ...['run.resume', 'run.follow-up', 'run.fork', 'run.archive', 'run.close'],
  ...['run.approvals', 'tool.calls', 'filesystem.deny-paths', 'filesystem.descendants'],
];

/** What the probe of an agent's family may show: a launch is not refused for it before there is one. */
export const mayTurnOut = (provider: ProviderFamily): readonly string[] => (provider === 'acp' ? acpMayShow : []);

/** Raised whenever the meaning of a capability or of the probe changes. */
const probeRevisions: Record<ProviderFamily, number> = { process: 3, acp: 4, 'remote-callback': 2 };
export const probeRevisionOf = (provider: ProviderFamily): number => probeRevisions[provider];

/** The result of probing one agent on a host. */
export interface ProbeResult {
  ok: boolean;
  version?: string;
  /** A name of what the agent is started from. */
  build?: string;
  /** What the agent itself has shown that it can do: capability ids. */
  capabilities?: readonly string[];
  /** What the host confines runs of the agent to. */
  sandbox?: HostSandbox | undefined;
  diagnostics: string[];
}

/**
 * The `provider-runtime-manifest/v1` of a provider family with a probe's evidence. Its digest omits the time of the probe, so
 * that two probes with the same findings have one identity.
 */
export function runtimeManifest(
  provider: ProviderFamily,
  probe: ProbeResult,
  options: { model?: string; probedAt: string; hostEnforced?: readonly string[] },
): ProviderRuntimeManifest {
  const sandbox = sandboxFor(provider, probe, options.hostEnforced);
  const body = {
    schemaVersion: 'provider-runtime-manifest/v1' as const,
    probeRevision: probeRevisionOf(provider),
    provider,
    adapter: `${provider}/v1`,
    protocolVersion: '1',
    ...(probe.version === undefined ? {} : { providerVersion: probe.version }),
    ...(probe.build === undefined ? {} : { providerBuild: probe.build }),
    models: options.model === undefined ? [] : [options.model],
    capabilities: capabilityIds.map((id): Capability =>
      capabilityOf(provider, id, { probe: { ...probe, sandbox }, hostEnforced: options.hostEnforced }),
    ),
    ...compact({ sandbox }),
  };
  const evidence = {
    state: probe.ok ? ('ready' as const) : ('failed' as const),
    source: 'runtime-probe',
    diagnostics: probe.diagnostics,
  };
  const { digest } = withDigest({ ...body, probe: evidence });
  return { ...body, probe: { ...evidence, probedAt: options.probedAt }, digest };
}

/** The manifest of an agent that is launched with another model: a probe finds nothing out about models. */
export function withModel(manifest: ProviderRuntimeManifest, model: string | undefined): ProviderRuntimeManifest {
  const models = model === undefined ? [] : [model];
  if (isSameJson(models, manifest.models)) {
    return manifest;
  }
  const { digest: _digest, probe, ...body } = { ...manifest, models };
  const { probedAt: _probedAt, ...evidence } = probe;
  return { ...body, probe, digest: digestOf({ ...body, probe: evidence }) };
}

/** An agent whose command confines it by itself is not confined once more: the one would be in the way of the other. */
const sandboxFor = (
  provider: ProviderFamily,
  { ok, sandbox }: ProbeResult,
  hostEnforced: readonly string[] = [],
): HostSandbox | undefined => (ok && provider !== 'remote-callback' && hostEnforced.length === 0 ? sandbox : undefined);

const confined = ({ mechanism, version }: HostSandbox): string =>
  `Runs that have a sandbox preset are confined by ${mechanism} ${version} on this host.`;

const notShown = 'The agent did not say in its handshake that this holds for it.';
const vouched = 'An operator vouches that the command of the agent enforces this.';

function capabilityOf(
  provider: ProviderFamily,
  id: string,
  {
    probe: { ok, capabilities = [], sandbox },
    hostEnforced = [],
  }: { probe: ProbeResult; hostEnforced?: readonly string[] },
): Capability {
  if (!ok) {
    return { id, state: 'unknown', source: 'runtime-probe', reason: 'The probe failed.' };
  }
  if (declarable.includes(id) && capabilities.includes(id)) {
    return { id, state: 'supported', source: 'runtime-probe' };
  }
  if (hostEnforced.includes(id)) {
    return { id, state: 'supported', source: 'host-enforced', reason: vouched };
  }
  if (sandbox?.capabilities.includes(id)) {
    return { id, state: 'supported', source: 'host-enforced', reason: confined(sandbox) };
  }
  const note = advisory[provider][id];
  if (note !== undefined) {
    return { id, state: 'advisory', source: 'contract-test', reason: note };
  }
  if (supported[provider].includes(id)) {
    return { id, state: 'supported', source: 'contract-test' };
  }
  const reason = provider === 'acp' && acpMayShow.includes(id) ? { reason: notShown } : {};
  return { id, state: 'unsupported', source: 'contract-test', ...reason };
}

import { basename } from 'node:path';
import type { ProviderRuntimeManifest } from '../contracts/runs/launch/contract';
import type { AgentConfig, ProviderFamily } from '../contracts/settings/agent-config';
import type { AgentSupportRow } from '../contracts/settings/agent-support';
import { createRedactor } from '../platform/log/redact';
import { redactUserPaths } from '../platform/log/redact-user-paths';
import { agentPresets } from './agents/presets';

/** A host's probe of an agent's current configuration. */
export interface SupportEvidence {
  hostId: string;
  manifest: ProviderRuntimeManifest;
  circuit: AgentSupportRow['circuit'];
  probedAt: string;
}

const transports: Record<ProviderFamily, AgentSupportRow['transport']> = {
  process: 'process-jsonl',
  acp: 'acp',
  'remote-callback': 'http-tools',
};

const untried: AgentSupportRow['circuit'] = { state: 'closed', failures: 0 };

/** The support of one agent on one host; without evidence, what its configuration declares. */
export function supportRow(agent: AgentConfig, evidence: SupportEvidence | undefined): AgentSupportRow {
  const { manifest, circuit = untried } = evidence ?? {};
  const failed = manifest?.probe.state === 'failed';
  const diagnostics = manifest?.probe.diagnostics ?? [];
  const missing = failed && diagnostics.some((text) => /not found|does not exist|not executable|not a file/.test(text));
  return {
    agentType: agent.type,
    hostId: evidence?.hostId ?? null,
    enabled: agent.enabled,
    profileId: profileOfAgent(agent),
    adapterId: manifest?.adapter ?? `${agent.provider}/v1`,
    transport: transports[agent.provider],
    ...judged(agent, { probed: manifest !== undefined, failed, missing, open: circuit.state === 'open' }),
    checkedAt: evidence?.probedAt ?? null,
    executableFound: manifest && agent.command !== undefined ? !missing : null,
    authenticated: null,
    ...(manifest?.providerVersion === undefined ? {} : { providerVersion: manifest.providerVersion }),
    ...(manifest?.providerBuild === undefined ? {} : { providerBuild: manifest.providerBuild }),
    ...(manifest ? { manifestDigest: manifest.digest } : {}),
    circuit,
    diagnostics,
    diagnosticCommands: diagnosticCommands(agent, evidence?.hostId),
  };
}

/** The preset whose program an agent is, by its command or by the package that it runs. */
const presetOfConfig = ({ command = '', args }: AgentConfig) =>
  agentPresets.find(
    (preset) =>
      (preset.command !== null && preset.command === basename(command)) ||
      args.some((arg) => preset.packages.some(({ name }) => arg === name || arg.startsWith(`${name}@`))),
  );

/** The preset whose program an agent is; the provider family where it is none's. */
export const profileOfAgent = (agent: AgentConfig): string => presetOfConfig(agent)?.id ?? agent.provider;

const redact = createRedactor();

/** A word of a shell, whatever is in it. */
const quoted = (word: string): string =>
  /^[\w@%+=:,./-]{1,200}$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;

/** The commands that show what is wrong; arguments besides those for the version may have credentials, and are left out. */
function diagnosticCommands({ type, command, versionArgs }: AgentConfig, hostId: string | undefined): string[] {
  const inTerminal =
    command === undefined
      ? []
      : [['command', '-v', command], ...(versionArgs ? [[command, ...versionArgs]] : [])].map((words) =>
          redactUserPaths(redact(words.map(quoted).join(' '))),
        );
  const body = hostId === undefined ? '{}' : JSON.stringify({ hostId });
  return [...inTerminal, ...(command === undefined ? [] : [`POST /api/config/agents/${type}/check ${body}`])];
}

interface Findings {
  probed: boolean;
  failed: boolean;
  missing: boolean;
  open: boolean;
}

type Judgement = Pick<AgentSupportRow, 'supportTier' | 'failureClass' | 'reason' | 'remediation'>;

function judged(agent: AgentConfig, { probed, failed, missing, open }: Findings): Judgement {
  if (!agent.enabled) {
    return {
      supportTier: 'configured',
      failureClass: 'disabled',
      reason: 'The agent is disabled.',
      remediation: ['Enable it with PUT /api/config/agents.'],
    };
  }
  if (missing) {
    return {
      supportTier: 'unsupported',
      failureClass: 'not-installed',
      reason: 'Its command was not found on the host.',
      remediation: ["Install it there, or give its absolute path: the worker's PATH counts."],
    };
  }
  if (failed) {
    return {
      supportTier: 'degraded',
      failureClass: 'probe-failed',
      reason: 'It did not respond to its probe.',
      remediation: ['Read the diagnostics, and run its command manually on the host.'],
    };
  }
  if (open) {
    return {
      supportTier: 'degraded',
      failureClass: 'launch-failed',
      reason: 'It could not be started several times in a row.',
      remediation: ['It is retried automatically; a changed configuration is tried immediately.'],
    };
  }
  return {
    supportTier: probed ? 'detected' : 'configured',
    failureClass: 'none',
    reason: probed ? 'The host has probed it.' : 'No host has probed it yet.',
    remediation: [],
  };
}

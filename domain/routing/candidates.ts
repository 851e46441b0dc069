import type { AgentConfig } from '../../contracts/settings/agent-config';
import type { RuntimeCandidate, RuntimeFinding } from '../../contracts/settings/routing';
import type { RuntimeEvidence } from './evidence';

/** What every launch rests on, whatever else it requires. */
export const baselineCapabilities = [
  'run.start',
  'run.status',
  'run.logs',
  'run.complete',
  'workspace.worktrees',
] as const;

/** What an agent is required for. */
export interface RuntimeDemand {
  agent: AgentConfig;
  /** The model a rule selects; else the agent's own; null for its default. */
  model: string | null;
  required: readonly string[];
  /** The run is to be started here: an agent that hosts run needs the evidence of a host. */
  toLaunch: boolean;
}

/** The order of sources. Among equals the id decides, so that every replica chooses the same. */
const order: readonly RuntimeCandidate['source'][] = ['host', 'declared', 'registry'];

/** The manifests that may speak for an agent: those about it, and every registration. */
const about = (agent: AgentConfig, evidence: readonly RuntimeEvidence[]): RuntimeEvidence[] =>
  evidence
    .filter((each) => each.agent === agent.type || each.agent === null)
    .sort(
      (a, b) => order.indexOf(a.source) - order.indexOf(b.source) || ((a.sourceId ?? '') < (b.sourceId ?? '') ? -1 : 1),
    );

/**
 * Every manifest that may speak for the agent, each with the reasons why it does not do (specification 2, Routing rules 2
 * and 3). `selected` is still false for all of them.
 */
export const runtimeCandidates = (demand: RuntimeDemand, evidence: readonly RuntimeEvidence[]): RuntimeCandidate[] =>
  about(demand.agent, evidence).map((each) => evaluate(demand, each));

function evaluate(demand: RuntimeDemand, { source, sourceId, manifest }: RuntimeEvidence): RuntimeCandidate {
  const findings = [...identityFindings(demand, source, manifest), ...capabilityFindings(demand, manifest)];
  const warnings = findings.filter(({ code }) => warningCodes.has(code));
  const reasons = findings.filter(({ code }) => !warningCodes.has(code));
  return {
    agent: demand.agent.type,
    source,
    sourceId,
    provider: manifest.provider,
    model: demand.model ?? manifest.models[0] ?? null,
    manifestDigest: manifest.digest,
    probeState: manifest.probe.state,
    compatible: reasons.length === 0,
    selected: false,
    reasons,
    warnings,
  };
}

const warningCodes: ReadonlySet<RuntimeFinding['code']> = new Set([
  'probe-degraded',
  'not-probed',
  'capability-advisory',
]);

function identityFindings(
  { agent, model, toLaunch }: RuntimeDemand,
  source: RuntimeCandidate['source'],
  manifest: RuntimeEvidence['manifest'],
): RuntimeFinding[] {
  const findings: RuntimeFinding[] = [];
  if (!agent.enabled) {
    findings.push({ code: 'agent-disabled', message: `Agent ${agent.type} is disabled.` });
  }
  if (manifest.provider !== agent.provider) {
    findings.push({
      code: 'provider-mismatch',
      message: `The manifest is of the provider ${manifest.provider}; the agent's is ${agent.provider}.`,
    });
  }
  // An agent's own model is a name its manifest need not know: the command decides what it runs.
  const own = source !== 'registry' && model === agent.model;
  if (model !== null && !own && !manifest.models.includes(model)) {
    findings.push({ code: 'model-mismatch', message: `The manifest does not name the model ${model}.` });
  }
  if (toLaunch && source === 'registry' && agent.provider !== 'remote-callback') {
    findings.push({
      code: 'not-launchable',
      message: `A ${agent.provider} agent is started by a host; a registration elsewhere cannot start it.`,
    });
  }
  if (manifest.probe.state === 'failed') {
    findings.push({ code: 'probe-failed', message: `The probe failed: ${manifest.probe.diagnostics.join(' ')}` });
  }
  if (manifest.probe.state === 'degraded') {
    findings.push({
      code: 'probe-degraded',
      message: `The probe is degraded: ${manifest.probe.diagnostics.join(' ')}`,
    });
  }
  if (source === 'declared' && agent.provider !== 'remote-callback') {
    findings.push({
      code: 'not-probed',
      message: 'No host has probed the agent yet; these are the defaults of its provider.',
    });
  }
  return findings;
}

function capabilityFindings({ required }: RuntimeDemand, manifest: RuntimeEvidence['manifest']): RuntimeFinding[] {
  // A failed probe is reported once; every capability is unknown then.
  if (manifest.probe.state === 'failed') {
    return [];
  }
  const byId = new Map(manifest.capabilities.map((capability) => [capability.id, capability]));
  return [...new Set([...baselineCapabilities, ...required])].flatMap((capabilityId): RuntimeFinding[] => {
    const capability = byId.get(capabilityId);
    if (!capability) {
      return [{ code: 'capability-missing', capabilityId, message: `The manifest does not list ${capabilityId}.` }];
    }
    if (capability.state === 'supported') {
      return [];
    }
    const because = capability.reason === undefined ? '' : `: ${capability.reason}`;
    const message = `${capabilityId} is ${capability.state}${because}`;
    return [{ code: `capability-${capability.state}`, capabilityId, state: capability.state, message }];
  });
}

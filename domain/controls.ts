import type { ProviderRuntimeManifest } from '../contracts/runs/launch/contract';
import { compact } from '../platform/json/compact';

/** Action, label and the capability each run control rests on. */
const table: readonly (readonly [action: string, label: string, capabilityId: string])[] = [
  ['start', 'Start run', 'run.start'],
  ['status', 'Read run status', 'run.status'],
  ['logs', 'Read run logs', 'run.logs'],
  ['complete', 'Complete run', 'run.complete'],
  ['stop', 'Stop run', 'run.stop'],
  ['interrupt', 'Interrupt run', 'run.interrupt'],
  ['message', 'Steer run', 'run.steer'],
  ['follow-up', 'Send follow-up turn', 'run.follow-up'],
  ['resume', 'Resume run', 'run.resume'],
  ['fork', 'Fork conversation', 'run.fork'],
  ['compact', 'Compact conversation', 'run.compact'],
  ['archive', 'Archive conversation', 'run.archive'],
  ['close', 'Close conversation', 'run.close'],
  ['reattach', 'Reattach run', 'run.reattach'],
  ['approvals', 'Provider approvals', 'run.approvals'],
  ['tool-calls', 'Tool calls', 'tool.calls'],
  ['mcp', 'MCP tools', 'tool.mcp'],
  ['structured-output', 'Structured output', 'output.structured'],
  ['token-usage', 'Token usage', 'usage.tokens'],
  ['artifacts', 'Artifact writes', 'artifact.write'],
];

/** The control rows of `status`, computed from the manifest the attempt was launched with. */
export function runControls(manifest: ProviderRuntimeManifest | undefined) {
  const states = new Map(manifest?.capabilities.map((capability) => [capability.id, capability]));
  return {
    manifestDigest: manifest?.digest ?? null,
    probeState: manifest?.probe.state ?? null,
    controls: table.map(([action, label, capabilityId]) => {
      const capability = states.get(capabilityId);
      const state = capability?.state ?? 'unknown';
      const reason = capability ? capability.reason : 'No valid runtime manifest: start a run on this task first.';
      return {
        action,
        label,
        capabilityId,
        state,
        available: state === 'supported' || state === 'advisory',
        advisory: state === 'advisory',
        ...compact({ reason }),
      };
    }),
  };
}

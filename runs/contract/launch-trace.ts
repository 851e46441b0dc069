import type { EvaluatedRule, TraceInput } from '../../contracts/governance-trace';
import type { RunLaunchManifest } from '../../contracts/launch-manifest';
import { sandboxTrace } from './sandbox-trace';

/** Everything that was decided about a launch when its contract was compiled. */
export function launchTraces(attemptId: string, manifest: RunLaunchManifest): TraceInput[] {
  const sandbox = sandboxTrace(attemptId, manifest);
  return [launchTrace(attemptId, manifest), ...(sandbox ? [sandbox] : [])];
}

/**
 * The policy trace of a launch: what was asked of its agent, what of it holds, and which policies bind the run. One for
 * each attempt, however often its contract is compiled.
 */
function launchTrace(attemptId: string, manifest: RunLaunchManifest): TraceInput {
  const { enforcement, routing, permissions, taskId } = manifest;
  const { blockers, warnings } = enforcement;
  const outcome = blockers.length > 0 ? 'blocked' : warnings.length > 0 ? 'warned' : 'allowed';
  return {
    kind: 'policy',
    outcome,
    title: `Launch of ${routing.selectedAgent}`,
    summary:
      blockers.length > 0
        ? `The launch is refused: ${blockers.map(({ message }) => message).join(' ')}`
        : `The launch is allowed with the commit policy ${permissions.commitPolicy} and ${warnings.length} warnings.`,
    ...(blockers.length > 0 ? { remediation: 'Choose another agent, or ask for less.' } : {}),
    subject: { agentId: routing.selectedAgent, taskId, actionType: 'run.start' },
    evaluatedRules: rulesOf(manifest),
    raw: {
      attemptId,
      runLaunchManifestDigest: manifest.digest,
      taskEnvelopeDigest: manifest.taskEnvelope.digest,
      providerRuntimeManifestDigest: manifest.providerRuntime.digest,
      permissions,
      tools: manifest.tools,
      sandbox: manifest.sandbox,
      profile: manifest.profile,
      origins: manifest.origins,
    },
    dedupeKey: attemptId,
  };
}

const rulesOf = ({ requirements, enforcement }: RunLaunchManifest): EvaluatedRule[] => [
  ...requirements.capabilities.map(({ id, state }) => ({
    id,
    label: `Required capability ${id}`,
    type: 'capability',
    status: 'info' as const,
    message: `${id} is ${state}.`,
  })),
  ...enforcement.blockers.map(({ code, message }) => finding(code, message, 'blocked')),
  ...enforcement.warnings.map(({ code, message }) => finding(code, message, 'warned')),
];

const finding = (id: string, message: string, outcome: 'blocked' | 'warned'): EvaluatedRule => ({
  id,
  label: id,
  type: 'enforcement',
  status: 'matched',
  outcome,
  message,
});

import type { EvaluatedRule, TraceInput } from '../../contracts/governance-trace';
import type { RunLaunchManifest } from '../../contracts/launch-manifest';

/** What every finding about a control of a sandbox begins with. */
const findingPrefix = 'sandbox-unenforced:';

/**
 * The sandbox trace of a launch: each control that its preset uses, the capability that enforces it, and what follows
 * where nothing does. One for each attempt; `undefined` for a launch without a preset.
 */
export function sandboxTrace(attemptId: string, manifest: RunLaunchManifest): TraceInput | undefined {
  const { sandbox, enforcement, routing, taskId } = manifest;
  if (!sandbox) return undefined;
  const outcomes = new Map<string, 'blocked' | 'warned'>([
    ...enforcement.warnings.map(({ code }) => [code, 'warned'] as const),
    ...enforcement.blockers.map(({ code }) => [code, 'blocked'] as const),
  ]);
  const rules = sandbox.controls.map((control) => ruleOf(control, outcomes.get(`${findingPrefix}${control.control}`)));
  const outcome =
    (['blocked', 'warned'] as const).find((one) => rules.some((rule) => rule.outcome === one)) ?? 'allowed';
  const enforced = sandbox.controls.filter((control) => control.enforced).length;
  return {
    kind: 'sandbox-policy',
    outcome,
    title: `Sandbox ${sandbox.presetId}: ${outcome}`,
    summary: `${enforced} of ${rules.length} controls of the preset ${sandbox.presetId} (${sandbox.enforcement}) are enforced.`,
    ...(outcome === 'blocked'
      ? { remediation: 'Choose an agent that enforces these controls, or a preset that does without them.' }
      : {}),
    subject: { agentId: routing.selectedAgent, taskId, actionType: 'run.start' },
    evaluatedRules: rules,
    raw: { attemptId, runLaunchManifestDigest: manifest.digest, sandbox },
    dedupeKey: attemptId,
  };
}

type Control = NonNullable<RunLaunchManifest['sandbox']>['controls'][number];

const ruleOf = (
  { control, capabilityId, state, enforced }: Control,
  outcome: 'blocked' | 'warned' | undefined,
): EvaluatedRule => ({
  id: control,
  label: control,
  type: 'sandbox',
  status: 'matched',
  outcome: enforced ? 'allowed' : (outcome ?? 'warned'),
  message: `${control} needs ${capabilityId}, which is ${state}.`,
});

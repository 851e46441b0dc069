import type { EvaluatedRule, TraceInput } from '../../contracts/governance/trace';
import type { LaunchFinding, RunLaunchManifest } from '../../contracts/runs/launch/manifest';
import { compact } from '../../platform/json/compact';

/** What every finding about a control of a sandbox begins with. */
const findingPrefix = 'sandbox-unenforced:';

/** What was decided about the controls of a preset, for a compiled contract or before there was one. */
export interface SandboxDecision {
  taskId: string;
  agent: string;
  sandbox: Pick<NonNullable<RunLaunchManifest['sandbox']>, 'presetId' | 'enforcement' | 'controls'>;
  enforcement: { blockers: readonly LaunchFinding[]; warnings: readonly LaunchFinding[] };
}

/**
 * The sandbox trace of a launch: each control that its preset uses, the capability that enforces it, and what follows
 * where nothing does.
 *
 * @param raw the inputs of the decision
 * @param dedupeKey the attempt it is for, of which there is one trace
 */
export function sandboxTrace(
  { taskId, agent, sandbox, enforcement }: SandboxDecision,
  raw: Record<string, unknown>,
  dedupeKey: string | undefined,
): TraceInput {
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
    subject: { agentId: agent, taskId, actionType: 'run.start' },
    evaluatedRules: rules,
    raw: { ...raw, sandbox },
    ...compact({ dedupeKey }),
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

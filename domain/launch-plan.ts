import type { Refusal } from '../contracts/refusal';
import type { Repository } from '../contracts/settings/repository';
import { mayTurnOut, runtimeManifest } from './capabilities';
import { commitPolicyOf } from './contract/commit-policy';
import { blocked } from './contract/compile';
import { gateOf } from './contract/enforcement';
import type { LaunchSnapshot } from './contract/input';
import type { RefusedByGate } from './contract/launch-trace';
import { gitTargetOf, objectiveOf } from './contract/objective';
import { secretProblem } from './contract/secrets';
import { launchedAgent, sessionOptionsProblem, toolServersProblem } from './launch-options';
import { launchPhase, phaseRefusal } from './phases/launch';
import { launchSources } from './phases/sources';
import { type LaunchInputs, selectLaunch } from './readiness';
import { possibleSandbox } from './sandbox/support';
import { baseBranchRefusal } from './workspaces/base-branch';

/** A launch that passed the gate: what it is made of, and the repository it works in. */
export interface LaunchPlan {
  snapshot: LaunchSnapshot;
  repository: Repository | null;
  git: { branch: string; baseBranch: string } | null;
}

/** A launch that did not pass, and the gate's inputs when the gate refused it. */
export interface RefusedPlan {
  refused: Refusal;
  byGate?: RefusedByGate;
}

/**
 * The gate of previews and starts, and the snapshot of what they launch (specification 2, Launch rule 1). What the agent's
 * family cannot enforce is refused here, before anything waits for capacity; the result of the probe on its host is checked
 * when the contract is compiled.
 */
export function planLaunch(inputs: LaunchInputs, { maxRetries }: { maxRetries: number }): LaunchPlan | RefusedPlan {
  const selection = selectLaunch(inputs);
  if ('status' in selection) {
    return { refused: selection };
  }
  const { task, request, profile = null, sandbox = null, repository = null, inherited } = inputs;
  const git = repository && gitTargetOf(task, repository);
  const onBase = repository && git && baseBranchRefusal(task.id, repository, git);
  if (onBase) {
    return { refused: onBase };
  }
  const unusable = secretProblem(selection.agent, profile);
  if (unusable) {
    return { refused: unusable };
  }
  const notChosen = sessionOptionsProblem(selection.agent, { request, profile });
  if (notChosen) {
    return { refused: notChosen };
  }
  const agent = launchedAgent(selection.agent, { request, selection, profile, sandbox });
  const withoutTools = toolServersProblem(agent);
  if (withoutTools) {
    return { refused: withoutTools };
  }
  const objective = objectiveOf(task);
  const runtime = runtimeManifest(
    agent.provider,
    { ok: true, diagnostics: [], capabilities: mayTurnOut(agent.provider), sandbox: possibleSandbox },
    { probedAt: notProbed, ...(agent.hostEnforced === undefined ? {} : { hostEnforced: agent.hostEnforced }) },
  );
  const gate = gateOf({ request, profile, sandbox, runtime, agent, objective, hasRepository: repository !== null });
  const refused = blocked(agent.type, gate);
  if (refused) {
    return { refused, byGate: { taskId: task.id, agent: agent.type, gate, sandbox } };
  }
  // The parent's limits are checked when the contract is compiled; what no runtime could enforce, before.
  const phase = launchPhase({
    requested: request.phase,
    parent: undefined,
    sources: launchSources({ sandbox, profile, allowedSideEffects: objective.allowedSideEffects }),
    runtime,
  });
  if (phase.blockers.length > 0) {
    return { refused: phaseRefusal(phase.evidence.phase, phase.blockers) };
  }
  const { agent: _agent, ...chosen } = selection;
  return {
    snapshot: {
      taskId: task.id,
      request,
      objective,
      phase: request.phase ?? 'implement',
      commitPolicy: commitPolicyOf(request, task, inputs.autoCommitOnComplete),
      agent,
      selection: chosen,
      profile,
      sandbox,
      ...(inherited ? { inherited } : {}),
      maxRetries,
      ...(inputs.timeoutMs === undefined ? {} : { timeoutMs: inputs.timeoutMs }),
    },
    repository,
    git,
  };
}

const notProbed = new Date(0).toISOString();

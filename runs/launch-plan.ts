import type { LaunchRefusal } from '../contracts/launch';
import type { Repository } from '../contracts/repository';
import { mayTurnOut, runtimeManifest } from './capabilities';
import { commitPolicyOf } from './contract/commit-policy';
import { blocked } from './contract/compile';
import { gateOf } from './contract/enforcement';
import type { RefusedByGate } from './contract/launch-trace';
import type { LaunchSnapshot } from './contract/input';
import { gitTargetOf, objectiveOf } from './contract/objective';
import { secretProblem } from './contract/secrets';
import { launchPhase, phaseRefusal } from './phases/launch';
import { launchSources } from './phases/sources';
import { launchedAgent } from './launch-options';
import { baseBranchRefusal } from './workspace/base-branch';
import { selectLaunch, type LaunchSubject } from './readiness';

/** A launch that passed the gate: what it is made of, and the repository it works in. */
export interface LaunchPlan {
  snapshot: LaunchSnapshot;
  repository: Repository | null;
  git: { branch: string; baseBranch: string } | null;
}

/** A launch that did not pass, and what the gate looked at when it was the gate that refused it. */
export interface RefusedPlan {
  refused: LaunchRefusal;
  byGate?: RefusedByGate;
}

/**
 * The gate of previews and starts, and the snapshot of what they launch (specification 2, Launch rule 1). What the
 * agent's family cannot enforce is refused here, before anything waits for capacity; what the probe on its host finds
 * is asked again when the contract is compiled.
 */
export function planLaunch(subject: LaunchSubject, { maxRetries }: { maxRetries: number }): LaunchPlan | RefusedPlan {
  const selection = selectLaunch(subject);
  if ('status' in selection) return { refused: selection };
  const { task, request, profile = null, sandbox = null, repository = null, inherited } = subject;
  const git = repository && gitTargetOf(task, repository);
  const onBase = repository && git && baseBranchRefusal(task.id, repository, git);
  if (onBase) return { refused: onBase };
  const unusable = secretProblem(selection.agent, profile);
  if (unusable) return { refused: unusable };
  const agent = launchedAgent(selection.agent, { selection, profile, sandbox });
  const objective = objectiveOf(task);
  const runtime = runtimeManifest(
    agent.provider,
    { ok: true, diagnostics: [], capabilities: mayTurnOut(agent.provider) },
    { probedAt: notProbed, ...(agent.hostEnforced === undefined ? {} : { hostEnforced: agent.hostEnforced }) },
  );
  const gate = gateOf({ request, profile, sandbox, runtime, agent, objective, hasRepository: repository !== null });
  const refused = blocked(agent.type, gate);
  if (refused) return { refused, byGate: { taskId: task.id, agent: agent.type, gate, sandbox } };
  // What a parent takes away is asked when the contract is compiled; what nobody could enforce, before.
  const phase = launchPhase({
    requested: request.phase,
    parent: undefined,
    sources: launchSources({ sandbox, profile, allowedSideEffects: objective.allowedSideEffects }),
    runtime,
  });
  if (phase.blockers.length > 0) return { refused: phaseRefusal(phase.evidence.phase, phase.blockers) };
  const { agent: _agent, ...chosen } = selection;
  return {
    snapshot: {
      taskId: task.id,
      request,
      objective,
      phase: request.phase ?? 'implement',
      commitPolicy: commitPolicyOf(request, task, subject.autoCommitOnComplete),
      agent,
      selection: chosen,
      profile,
      sandbox,
      ...(inherited ? { inherited } : {}),
      maxRetries,
      ...(subject.timeoutMs === undefined ? {} : { timeoutMs: subject.timeoutMs }),
    },
    repository,
    git,
  };
}

const notProbed = new Date(0).toISOString();

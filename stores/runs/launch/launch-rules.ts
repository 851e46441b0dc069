import type { Phase } from '../../../contracts/common';
import type { Refusal } from '../../../contracts/refusal';
import type { LaunchSource } from '../../../contracts/runs/admission';
import type { LaunchRequest } from '../../../contracts/runs/launch/launch';
import type { AskedAction } from '../../../domain/governance/action';
import { ruleRefusal } from '../../../domain/governance/rule-refusal';
import type { AskedContinuation } from '../../../domain/governance/watcher-policy';
import { compact } from '../../../platform/json/compact';
import { currentOperation } from '../../../platform/operations/operation';
import type { Asking, DecisionPoint } from '../../governance/decision-point';
import type { AttemptStore } from '../attempt-store';

export interface LaunchRuleSources {
  rules: DecisionPoint;
  attempts: Pick<AttemptStore, 'get'>;
}

/** A launch as rules see it. */
export interface RuledLaunch {
  attemptId: string;
  taskId: string;
  project: string | undefined;
  /** The agent that is launched. */
  agent: string;
  phase: Phase;
  request: LaunchRequest;
  source: LaunchSource;
  parentAttemptId: string | undefined;
  actor: string;
  /** The root of its execution tree, where it is recorded. */
  tree?: string;
  /** Of a launch by a watcher. */
  watcher?: AskedContinuation;
}

/** Why the rules refuse a launch, or what they warn of. */
export interface LaunchRuling {
  refused?: Refusal;
  warnings: string[];
}

/** What a launch is called besides, by where it comes from. */
const alsoBySource: Partial<Record<LaunchSource, string>> = {
  watcher: 'continuation',
  conversation: 'follow-up',
  recovery: 'retry',
  fallback: 'fallback',
  scheduled: 'scheduled-launch',
  workflow: 'workflow-step',
};

/**
 * Asks the rules about a launch, and for a child first whether its parent may delegate. Asked by the API before a launch is
 * recorded, by admission before anything is reserved, and again when a launch that waited is dispatched. An allowed launch of an
 * operation is recorded while the trace of the decision is being stored, and is not acknowledged before it is.
 */
export async function ruleOnLaunch(
  sources: LaunchRuleSources,
  launch: RuledLaunch,
  asking: Asking,
): Promise<LaunchRuling> {
  const warnings: string[] = [];
  for (const asked of await actionsOf(sources, launch)) {
    const { recorded, ...decided } = await sources.rules.decideFirst(asked, asking);
    const refused = ruleRefusal(decided);
    const operation = currentOperation();
    if (refused || !operation) {
      await recorded;
    } else {
      operation.noteRecording(recorded);
    }
    if (refused) {
      return { refused, warnings };
    }
    warnings.push(...decided.warnings);
  }
  return { warnings };
}

async function actionsOf({ attempts }: LaunchRuleSources, launch: RuledLaunch): Promise<AskedAction[]> {
  const { taskId, project, agent, phase, request, source, parentAttemptId, actor, watcher, tree } = launch;
  const { profileId, sandboxPresetId, commitPolicy } = request;
  const subject = compact({ agent, phase, profileId, sandboxPresetId, commitPolicy, source });
  const named = alsoBySource[source];
  const also = named === undefined ? ['spend'] : [named, 'spend'];
  const common = { actor, taskId, subject, facts: subject, ...compact({ project }) };
  const launched: AskedAction = { ...common, action: 'launch', also, agent, phase, ...compact({ watcher, tree }) };
  const parent = source === 'child-agent' && parentAttemptId ? await attempts.get(parentAttemptId) : undefined;
  if (!parent) {
    return [launched];
  }
  const delegated: AskedAction = {
    ...common,
    action: 'delegate',
    agent: parent.agent,
    subject: { ...subject, parentAttemptId: parent._id },
    launchesChildren: parent.agentConfig.launchesChildren === true,
    onBehalf: actor !== `agent:${parent._id}`,
  };
  return [delegated, launched];
}

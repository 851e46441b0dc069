import type { AllowedSideEffect, TaskEnvelope } from '../../contracts/runs/launch/contract';
import { compact } from '../../platform/json/compact';
import { withDigest } from '../../platform/json/digest';
import { authorityOf } from '../phases/evidence';
import { commitPolicyWithin } from './commit-policy';
import type { ContractInput } from './input';
import { effectiveSideEffects } from './side-effects';

/** The `task-envelope/v1` of a launch. */
export function compileEnvelope(input: ContractInput): TaskEnvelope {
  const { title, description, subtasks, expectedOutputs, context, gates, allowEmptyResult } = input.objective;
  const restrictions = input.profile?.restrictions ?? {};
  const allowedSideEffects = sideEffectsOfLaunch(input);
  return withDigest({
    schemaVersion: 'task-envelope/v1' as const,
    taskId: input.taskId,
    objective: { title, description, subtasks },
    context,
    phase: input.phase,
    commitPolicy: commitPolicyWithin(input.commitPolicy, allowedSideEffects),
    policy: {
      tools: { allowed: restrictions.tools?.allowed ?? null, denied: restrictions.tools?.denied ?? [] },
      mcpServers: restrictions.mcpServers ?? null,
      permissions: restrictions.permissions ?? null,
      sandboxPreset: input.sandbox?.id ?? null,
      ...(input.phaseEvidence?.mode === 'profile' ? { authority: authorityOf(input.phaseEvidence) } : {}),
    },
    workspace: input.workspace,
    allowedSideEffects,
    expectedOutputs,
    ...compact({ allowEmptyResult }),
    gates,
  });
}

/** What a launch lets the run do, from its task, phase, sandbox and runtime. */
const sideEffectsOfLaunch = (input: ContractInput): AllowedSideEffect[] =>
  effectiveSideEffects({
    allowed: input.objective.allowedSideEffects,
    commitPolicy: input.commitPolicy.value,
    sandbox: input.sandbox,
    runtime: input.runtime,
    worktreePath: input.workspace?.path ?? null,
    authority: input.phaseEvidence && authorityOf(input.phaseEvidence),
  });

import { z } from 'zod';
import {
  compatAgent,
  compatAttempt,
  type compatAttemptStatus,
  compatRecovery,
  compatRunStatus,
} from '../../contracts/compat';
import type { Attempt, runStatus } from '../../contracts/runs/attempt';
import type { RunRecovery } from '../../contracts/runs/recovery';
import type { AgentConfig } from '../../contracts/settings/agent-config';
import { compact } from '../../platform/json/compact';
import { profileOfAgent } from '../agent-support';
import { isRetryable } from '../recovery/classify';
import type { CompatRow } from './presenter';

type AttemptStatus = z.infer<typeof compatAttemptStatus>;

/** The status of an attempt in four words. */
export function attemptStatus({ state, completion }: Pick<Attempt, 'state' | 'completion'>): AttemptStatus {
  if (state === 'ended') {
    return completion?.status === 'success' ? 'complete' : 'failed';
  }
  if (state === 'refused') {
    return 'failed';
  }
  return state === 'running' ? 'running' : 'pending';
}

const presentAttempt = (attempt: Attempt) => ({
  ...attempt,
  status: attemptStatus(attempt),
  ...compact({ started: attempt.startedAt, ended: attempt.endedAt }),
});

export function presentRecovery(recovery: RunRecovery) {
  const { failureClass, reason, operatorHandoff, route, manifestDigests, action, state } = recovery;
  return {
    ...recovery,
    rootRunId: recovery.rootAttemptId,
    parentRunId: recovery.attemptId,
    fallbackUsed: action === 'fallback',
    failure: {
      classification: failureClass,
      summary: reason,
      retryable: isRetryable(failureClass),
      approvalRequired: action === 'approval',
      destructiveSideEffects: failureClass === 'partial-side-effect',
    },
    scheduledAt: recovery.createdAt,
    ...compact({
      launchedRunId: recovery.nextAttemptId,
      cancelledAt: state === 'cancelled' ? recovery.updatedAt : undefined,
      selectedAgent: route?.agent,
      routingDecision: route?.reason,
      sourceManifestDigest: manifestDigests?.runLaunch ?? undefined,
      cumulativeBudget: recovery.budget,
      handoff: operatorHandoff && { summary: operatorHandoff.reason, nextActions: [operatorHandoff.nextSafeAction] },
    }),
  };
}

const presentAgent = (agent: AgentConfig) => ({
  ...agent,
  command: agent.command ?? '',
  supportProfile: profileOfAgent(agent),
});

/** Attempts, recoveries and the agents that make them. */
export const runRows: readonly CompatRow[] = [
  {
    operations: ['listAttempts'],
    present: ({ attempts }: { attempts: Attempt[] }) => attempts.map(({ id }) => id),
    response: z.array(z.string()),
  },
  { operations: ['getAttempt'], present: presentAttempt, response: compatAttempt },
  {
    operations: ['getRunStatus'],
    present: ({ attempt, ...status }: z.infer<typeof runStatus>) => ({
      ...status,
      status: attempt && attemptStatus(attempt),
      attempt: attempt && presentAttempt(attempt),
    }),
    response: compatRunStatus,
  },
  {
    operations: ['getRunRecovery'],
    present: (recovery: RunRecovery | null) => recovery && presentRecovery(recovery),
    response: compatRecovery.nullable(),
  },
  {
    operations: ['listRecoveries'],
    present: ({ recoveries }: { recoveries: RunRecovery[] }) => recoveries.map(presentRecovery),
    response: z.array(compatRecovery),
  },
  { operations: ['cancelRunRecovery', 'cancelWorkflowRecovery'], present: presentRecovery, response: compatRecovery },
  {
    operations: ['getAgents', 'replaceAgents'],
    present: ({ agents }: { agents: AgentConfig[] }) => agents.map(presentAgent),
    response: z.array(compatAgent),
  },
  {
    operations: ['getConfiguration', 'setDefaultAgent'],
    present: (reply: { agents: AgentConfig[] }) => ({ ...reply, agents: reply.agents.map(presentAgent) }),
    response: z.looseObject({ agents: z.array(compatAgent) }),
  },
  {
    operations: ['addAgentFromPreset'],
    present: (reply: { agent: AgentConfig }) => ({ ...reply, agent: presentAgent(reply.agent) }),
    response: z.looseObject({ agent: compatAgent }),
  },
];

import type { Goal } from '../../contracts/governance/goals/goal';
import { planned, plannedAttempt } from '../../domain/goals/continuation';
import { evidenceOf, withEvidence } from '../../domain/goals/evidence';
import { goalLimits } from '../../domain/goals/limits';
import { blockedBy, type LastRun, nextStep } from '../../domain/goals/next-step';
import { withEnd, withRun } from '../../domain/goals/runs';
import { changedState } from '../../domain/goals/states';
import { goalSystem } from '../../domain/goals/system';
import { compact } from '../../platform/json/compact';
import type { GoalStore } from '../../stores/governance/goal-store';
import type { AttemptRecord, AttemptStore } from '../../stores/runs/attempt-store';
import { continuationOf } from '../../stores/runs/launch/continuation';
import type { RecoveryStore } from '../../stores/runs/recovery-store';
import type { RoutingStore } from '../../stores/settings/routing-store';
import { auditTransitions } from './audit';
import { dispatchContinuation, type DispatchDependencies } from './dispatch';
import { type MemberSources, runsBelow } from './members';
import { usageOfRun, type UsageSources } from './usage';

export interface GoalDependencies extends MemberSources, UsageSources, DispatchDependencies {
  goals: GoalStore;
  attempts: Pick<AttemptStore, 'get'>;
  recoveries: Pick<RecoveryStore, 'get'>;
  routing: Pick<RoutingStore, 'configuration' | 'inputs'>;
  requests: MemberSources['requests'];
  now(): Date;
}

/** What a goal is, and the continuation that has to be launched. */
export interface SettledGoal {
  state: Goal['state'] | 'missing';
  continuationId?: string;
}

export function createGoalActivities(deps: GoalDependencies) {
  const { goals } = deps;
  const at = () => deps.now().toISOString();

  return {
    /**
     * Brings a goal up to date with its runs, and decides what follows. Each step finds what an earlier try did: a run is counted
     * once, and a continuation has its id before it is launched.
     */
    async settleGoal({ goalId }: { goalId: string }): Promise<SettledGoal> {
      const due = await goals.dueOf(goalId);
      const before = await goals.get(goalId);
      if (!before) {
        return { state: 'missing' };
      }
      const counted = await count(before);
      const last = await lastRunOf(counted);
      const decided = await decide(counted, last);
      await auditTransitions(deps, decided);
      const continuation = plannedAttempt(decided);
      // A recovery that is under way is looked at again until its run is there, or it is over.
      if (!continuation && nextStep(decided, last).step !== 'wait') {
        await goals.settled(goalId, due);
      }
      return { state: decided.state, ...compact({ continuationId: continuation?.id }) };
    },

    /** Launches a planned continuation through the ordinary path, once, or records why it was refused. */
    async dispatchContinuation(asked: { goalId: string; continuationId: string }): Promise<void> {
      const goal = await dispatchContinuation(deps, asked);
      if (goal) {
        await auditTransitions(deps, goal);
      }
    },
  };

  /** Adds the runs below those of the goal, and what the ended ones used and proved. */
  async function count(goal: Goal): Promise<Goal> {
    const found = await runsBelow(deps, goal);
    const joined = await changed(goal, (current) => withRoom(found.reduce(withRun, current)));
    let all = joined;
    for (const { attemptId, endedAt } of joined.continuationChain) {
      const record = endedAt === undefined ? await deps.attempts.get(attemptId) : undefined;
      if (record && isOver(record)) {
        const used = await usageOfRun(deps, record);
        all = await changed(all, (current) => counted(current, record, used));
      }
    }
    return all;
  }

  /** A goal that has as many runs as it may is not continued: what more runs used could not be counted. */
  function withRoom(goal: Goal): Goal {
    if (goal.continuationChain.length < goalLimits.runs || goal.state !== 'active') {
      return goal;
    }
    const { change } = blockedBy(
      'GOAL_FULL',
      `The goal has ${goalLimits.runs} runs.`,
      'End it, and create another goal.',
    );
    return changedState(goal, change, { actor: goalSystem, at: at() });
  }

  function counted(goal: Goal, record: AttemptRecord, used: Awaited<ReturnType<typeof usageOfRun>>): Goal {
    const { _id: attemptId, completion, state } = record;
    const endedAt = completion?.completedAt ?? record.endedAt ?? at();
    const ended = withEnd(goal, { attemptId, status: completion?.status ?? state, endedAt }, used);
    const proven = completion ? evidenceOf(goal.completionRequirements, completion) : [];
    return ended === goal ? goal : withEvidence(ended, proven, { verifier: `run:${attemptId}`, at: endedAt });
  }

  /** Decides on the newest goal: a caller may have changed it since it was counted. */
  async function decide(goal: Goal, last: LastRun | undefined): Promise<Goal> {
    const runId = goal.currentRun?.attemptId;
    return changed(goal, (current) => {
      const next = current.currentRun?.attemptId === runId ? nextStep(current, last) : undefined;
      switch (next?.step) {
        case 'change':
          return changedState(current, next.change, { actor: goalSystem, at: at() });
        case 'continue':
          return planned(current, { kind: next.kind, at: at() });
        default:
          return current;
      }
    });
  }

  async function lastRunOf({ currentRun }: Goal): Promise<LastRun | undefined> {
    const record = currentRun && (await deps.attempts.get(currentRun.attemptId));
    const completion = record?.completion;
    if (!completion) {
      return undefined;
    }
    const resumable = await continuationOf(deps.routing, record, 'follow-up').then(
      () => true,
      () => false,
    );
    return {
      status: completion.status,
      summary: completion.summary || (completion.error ?? completion.status),
      stopped: completion.terminalSource === 'operator-interruption',
      resumable,
      recovery: await deps.recoveries.get(record._id),
    };
  }

  async function changed(goal: Goal, change: (current: Goal) => Goal): Promise<Goal> {
    return (await goals.change(goal.id, change, { at: at() })) ?? goal;
  }
}

/** Whether everything about the end of the run is recorded. */
const isOver = ({ state }: AttemptRecord): boolean => state === 'ended' || state === 'refused';

export type GoalActivities = ReturnType<typeof createGoalActivities>;

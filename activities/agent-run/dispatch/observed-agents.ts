import type { RunEventInput } from '../../../contracts/runs/event';
import type { ToolRules } from '../../../domain/tools/rules';
import { rulesOfRun } from '../../../domain/tools/rules-of-run';
import { startedAgent } from '../../../domain/workspaces/trust';
import { compact } from '../../../platform/json/compact';
import type { ProcessIdentity } from '../../../platform/processes/identity';
import {
  AgentDetachedError,
  type AgentDispatch,
  type AgentSink,
  AttemptMovedOnError,
  type LiveAgent,
} from '../../../providers/agents/provider';
import type { Fence } from '../../../providers/git/fence';
import type { ToolRulings } from '../../../stores/governance/tool-rulings';
import type { AttemptRecord } from '../../../stores/runs/attempt-store';
import { storeCaptured } from '../../output-cleanup/activities';
import { sourceOf } from '../../shared/event-source';
import { reportStart } from '../completion/run-telemetry';
import { goesOnWith } from '../prepare/launch-snapshot';
import type { AgentDecider } from './agent-approvals';
import { checkpointRun } from './checkpoints';
import type { DispatchDependencies } from './dependencies';
import { runGone, workerShutDown } from './failures';
import { spoolDirOf } from './reattach';
import { agentLocationOf, transportOf } from './recorded-contract';
import { spaceFor } from './space-for';
import { meterSpend } from './spend-meter';
import { watchRun } from './watchdog';

/** What the worktree shows when an agent is notified of another phase was done under the one before. */
const lookingFirst = (agent: LiveAgent, checkpoints: { now(): Promise<void> }): LiveAgent => ({
  async command(command) {
    if (command.type === 'message') {
      await checkpoints.now();
    }
    return agent.command(command);
  },
});

/** What the agent is confined to: its preset, where its host has shown that it can do that. */
function sandboxOf(record: AttemptRecord): AgentDispatch['sandbox'] {
  const { sandbox, providerRuntimeManifest, baseline, taskEnvelope } = record;
  return sandbox && providerRuntimeManifest?.sandbox
    ? { preset: sandbox, gitDir: baseline?.gitDir, branch: taskEnvelope?.workspace?.branch }
    : undefined;
}

/** Asks the rules before people, where the provider has not done that with everything it knows of the tool. */
const ruledDecider =
  (rulings: ToolRulings, { provider }: AttemptRecord, decide: AgentDecider): AgentDecider =>
  async (question, signal) => {
    const { requestKind, actionClass } = question;
    const isAsked = provider === 'acp' || requestKind === 'elicitation' || actionClass === 'elicitation';
    const ruled = isAsked ? undefined : await rulings.ofClass(actionClass);
    return ruled?.verdict === 'deny'
      ? { decision: 'rejected', decidedBy: 'system:rules', note: ruled.reason }
      : decide(question, signal);
  };

interface ObservedRun {
  path: string;
  fence: Fence;
  awake: () => Promise<void>;
  firstEvents: (record: AttemptRecord, process: ProcessIdentity) => RunEventInput[];
}

/** Runs the agents of attempts with all observers of their events. */
export function createObservedAgents(deps: DispatchDependencies) {
  const withSpace = spaceFor(deps);
  return { withObservers };

  /** Starts or resumes an agent, with all observers of its events. */
  async function withObservers<T>(
    record: AttemptRecord,
    { path: worktreePath, fence, awake, firstEvents }: ObservedRun,
    run: (dispatch: AgentDispatch, sink: AgentSink) => Promise<T>,
  ): Promise<T> {
    const watch = watchRun(deps, record);
    const meter = meterSpend(deps, record);
    const rulings = deps.toolRulings(record);
    const checkpoints = checkpointRun({ ...deps, git: deps.git.under(fence) }, record, worktreePath);
    const spoolDir = spoolDirOf(record, deps.agentsDir);
    const isCurrent = async () => (await deps.attempts.isSupervisedBy(record._id, deps.self)) && (await fence.holds());
    const dispatch: AgentDispatch = {
      attemptId: record._id,
      taskId: record.taskId,
      agent: startedAgent(record.agentConfig, record.runLaunchManifest?.workspaceTrust),
      worktreePath,
      worktreeIdentity: record.baseline?.identity,
      transport: transportOf(record),
      rules: async () => ({ ...(await rulesNow(record, worktreePath)), asks: (use) => rulings.ofUse(use) }),
      ...goesOnWith(record),
      ...compact({ requestedModel: record.request.model }),
      transportDir: deps.transportDir,
      ...limitsOf(record),
      ...compact({ spoolDir, sandbox: sandboxOf(record) }),
      isCurrent,
    };
    const sink: AgentSink = {
      started: (process, agent) =>
        started(record, { process, agent: lookingFirst(agent, checkpoints), events: firstEvents(record, process) }),
      append: async (events) => {
        await awake();
        const source = sourceOf(record);
        await withSpace(() => storeCaptured(deps, source, events));
        await checkpoints.received(events);
        const sequences = await withSpace(() => deps.events.append(source, events));
        await withSpace(() => meter.appended(events, sequences));
        await watch.appended(events, sequences);
        checkpoints.appended(sequences);
      },
      offered: (offer) =>
        deps
          .offered(record.agentConfig, offer)
          .catch((error: unknown) => deps.log.warn({ err: error, attemptId: record._id }, 'session offer not stored')),
      decide: ruledDecider(rulings, record, deps.decider(record)),
    };
    try {
      // What an earlier worker received and did not come to count.
      await (record.startedAt === undefined ? undefined : withSpace(() => meter.caughtUp()));
      return await inItsHands(record, isCurrent, () => run(dispatch, sink));
    } catch (error) {
      if (error instanceof AttemptMovedOnError) {
        throw runGone();
      }
      throw error instanceof AgentDetachedError ? workerShutDown() : error;
    } finally {
      // The end is not recorded before the commands to the agent are.
      await deps.live.remove(record._id);
      await checkpoints.ended();
      await watch.ended();
    }
  }

  /** The worktree belongs to the user of the agent while that works in it, and only then. */
  async function inItsHands<T>(
    record: AttemptRecord,
    isCurrent: () => Promise<boolean>,
    work: () => Promise<T>,
  ): Promise<T> {
    const place = agentLocationOf(record);
    if (!deps.agentAccess || !place) {
      return work();
    }
    if (!(await isCurrent())) {
      throw new AttemptMovedOnError(record._id);
    }
    try {
      await deps.agentAccess.give(place);
      return await work();
    } finally {
      // Another worker has reclaimed it already, and may have given it to the next agent.
      if (await isCurrent()) {
        await deps.agentAccess.take(place);
      }
    }
  }

  async function started(
    record: AttemptRecord,
    { process, agent, events }: { process: ProcessIdentity; agent: LiveAgent; events: RunEventInput[] },
  ): Promise<void> {
    const startedAt = deps.now().toISOString();
    // It changes nothing of an attempt that runs already, and refuses one that moved on while this worker was asleep: its agent
    // is ended before its first message.
    const begun = await withSpace(() =>
      deps.attempts.start(record._id, {
        process: { ...process, hostId: deps.hostId },
        startedAt,
        supervisor: deps.self,
      }),
    );
    if (!begun && !(await deps.attempts.isSupervisedBy(record._id, deps.self))) {
      throw new AttemptMovedOnError(record._id);
    }
    await withSpace(() => deps.events.append(sourceOf(record), events));
    await withSpace(() => deps.feed.append({ type: 'agent.status' }));
    // The end of the run reports a start that could not be reported here.
    await reportStart(deps, begun ?? record).catch((error: unknown) =>
      deps.log.warn({ err: error, attemptId: record._id }, 'start of a run not reported'),
    );
    deps.live.add(record._id, agent);
  }

  /** An emergency whose time is over has ended, whether that is recorded or not. */
  async function rulesNow(record: AttemptRecord, worktreePath: string): Promise<ToolRules> {
    const phases = await deps.phases.endEmergency(record._id, { now: deps.now().toISOString() });
    return rulesOfRun(record, phases, worktreePath);
  }

  /** The limits of its contract: another worker, or one that was restarted with other limits, applies them too. */
  function limitsOf({ runLaunchManifest }: AttemptRecord) {
    const { stopGraceMs, runTimeoutMs: timeoutMs, outputLimitBytes } = deps.limits;
    return { stopGraceMs, timeoutMs, outputLimitBytes, ...runLaunchManifest?.resources };
  }
}

import type { Filter } from 'mongodb';
import type { LaunchOrigin } from '../../contracts/runs/admission';
import type { Attempt, AttemptState, HostBaseline } from '../../contracts/runs/attempt';
import type { CompletionResult, Continuation } from '../../contracts/runs/completion';
import type { ProviderRuntimeManifest, RecordedTaskEnvelope } from '../../contracts/runs/launch/contract';
import type { LaunchOutcome, LaunchRequest } from '../../contracts/runs/launch/launch';
import type { RecordedLaunchManifest } from '../../contracts/runs/launch/manifest';
import type { StepTimes } from '../../contracts/runs/trace';
import type { AgentConfig } from '../../contracts/settings/agent-config';
import type { Profile } from '../../contracts/settings/profile';
import type { Repository } from '../../contracts/settings/repository';
import type { SandboxPreset } from '../../contracts/settings/sandbox';
import type { RunUsage } from '../../contracts/system/telemetry';
import type { TaskStatus } from '../../contracts/tasks/task';
import type { BudgetUse } from '../../domain/budgets/budget-use';
import type { Inherited } from '../../domain/children/authority';
import type { TerminalClaim } from '../../domain/completion';
import type { Around } from '../../domain/completion/outside-changes';
import type { Objective, RecordedTransport, ResolvedCommitPolicy, Selection } from '../../domain/contract';
import { compact } from '../../platform/json/compact';
import type { Page, PageRequest } from '../../platform/lists/page';
import type { Collection, Database } from '../port/collection';
import { findPage } from '../port/find-page';
import { inOrder } from '../port/in-order';
import { inPages } from '../port/in-pages';
import { insertOrGet } from '../port/insert';
import type { ObservedEnd } from './observed-end';
import { type RecordedSteps, stepUpdate } from './step-times';

/** Everything the workflow of an attempt needs that does not belong in its history. */
export interface AttemptRecord extends Omit<Attempt, 'id'> {
  _id: string;
  request: LaunchRequest;
  objective: Objective;
  agentConfig: AgentConfig;
  selection: Selection;
  commitPolicySource: ResolvedCommitPolicy['source'];
  profile: Profile | null;
  sandbox: SandboxPreset | null;
  /** What the child of an attempt on another task has from that attempt. */
  inherited?: Inherited;
  /** Where the launch came from, when it was no start by a caller. */
  origin?: LaunchOrigin;
  /** A person's message that begins the conversation of this run. */
  message?: { text: string; actor: string };
  /** How the session of the source attempt is continued. */
  continuation?: Continuation;
  maxRetries: number;
  /** The status of the task when the attempt was admitted; absent in records of earlier versions. */
  taskStatus?: TaskStatus;
  /** Of the task when it was launched: what policies are scoped by. */
  project?: string;
  /** How long the run may take by the settings when it was launched, in milliseconds. */
  timeoutMs?: number;
  repository: Repository | null;
  git: { branch: string; baseBranch: string } | null;
  launch?: LaunchOutcome;
  providerRuntimeManifest?: ProviderRuntimeManifest;
  taskEnvelope?: RecordedTaskEnvelope;
  runLaunchManifest?: RecordedLaunchManifest;
  /** The document passed to the agent is the envelope with these sections, and has this digest. */
  transport?: RecordedTransport;
  /** How to put the worktree back. */
  baseline?: HostBaseline;
  /** What was around the worktree then. */
  surroundings?: Around;
  process?: { pid: number; startTime: string; bootId: string; hostId: string };
  /** The worker process that supervises the agent, its own queue, and until when it does unless it renews that. */
  supervisor?: {
    pid: number;
    startTime: string;
    bootId: string;
    /** None in records of earlier versions. */
    pidNamespace?: string;
    hostId: string;
    until: string;
    queue?: string;
  };
  /** What the provider saw at the agent's end, recorded before the activity that saw it returns. */
  claim?: TerminalClaim;
  /** What its host saw in the worktree when an agent elsewhere reported the end. */
  observed?: ObservedEnd;
  /** Set once its launch was abandoned after its admission: nothing of it is prepared or dispatched from then on. */
  abandonedAt?: string;
  /** When its steps were done; absent when tracing was disabled then. */
  steps?: StepTimes;
  /** The budget that the run used up: its agent is ended for it. */
  exhausted?: BudgetUse;
  /** Set once the attempt was taken from a lost worker, to be cleaned up after. */
  reclaimed?: { at: string; preservedRef?: string; workLost?: string };
}

export type ContractFields = Required<
  Pick<
    AttemptRecord,
    'providerRuntimeManifest' | 'taskEnvelope' | 'runLaunchManifest' | 'transport' | 'hostId' | 'launch'
  >
> &
  Pick<AttemptRecord, 'baseline'> &
  Partial<Pick<AttemptRecord, 'phase' | 'surroundings'>>;

/** The worker process that supervises an attempt. */
type Supervising = Pick<NonNullable<AttemptRecord['supervisor']>, 'pid' | 'startTime' | 'bootId'>;

const supervisedBy = ({ pid, startTime }: Pick<Supervising, 'pid' | 'startTime'>): Filter<AttemptRecord> => ({
  'supervisor.pid': pid,
  'supervisor.startTime': startTime,
});

const active: AttemptState[] = ['queued', 'admitted', 'prepared', 'dispatched', 'running'];
const launched: AttemptState[] = [...active, 'ended'];

/** What is listed of an attempt that is not over. */
const activeFields = ['_id', 'agent', 'state', 'taskId', 'objective', 'startedAt'] as const;
export type ActiveAttempt = Pick<AttemptRecord, (typeof activeFields)[number]>;

interface AttemptStart {
  process?: AttemptRecord['process'];
  startedAt: string;
  /** Who has started the agent: refused when it is another one's by now. */
  supervisor?: Supervising;
}

/** @param recordedSteps the times that a trace is made of; none when absent */
export async function createAttemptStore(db: Database, recordedSteps: RecordedSteps = async () => ({})) {
  const attempts: Collection<AttemptRecord> = await db.collection({
    name: 'attempts',
    indexes: [
      { keys: { taskId: 1, createdAt: -1, _id: -1 } },
      { keys: { state: 1, createdAt: -1 } },
      { keys: { state: 1, _id: 1 } },
      { keys: { rootAttemptId: 1 } },
      { keys: { eventsPurgedAt: 1, endedAt: 1 } },
    ],
  });

  /** The one way an attempt changes: from one of `from`, with its revision raised; `undefined` when it is elsewhere. */
  const move = async (
    id: string,
    { from, fields, also = {} }: { from: AttemptState[]; fields: Partial<AttemptRecord>; also?: Filter<AttemptRecord> },
  ): Promise<AttemptRecord | undefined> =>
    attempts.findOneAndUpdate(
      { ...also, _id: id, state: { $in: from } },
      { $set: { ...fields, ...(await stepTimes(fields.state)) }, $inc: { revision: 1 } },
    );

  const stepTimes = async (state: AttemptState | undefined): Promise<Record<string, string>> =>
    state === undefined ? {} : stepUpdate(await recordedSteps(state));

  /** Neither abandoned nor ended nor reclaimed: a worker that was asleep meanwhile is refused. */
  const goesOn: Filter<AttemptRecord> = {
    abandonedAt: { $exists: false },
    completion: { $exists: false },
    reclaimed: { $exists: false },
  };

  return {
    /** Inserts the record, or returns the one an earlier try of the same activity inserted. */
    async create(record: AttemptRecord): Promise<AttemptRecord> {
      const steps = await recordedSteps(record.state);
      return insertOrGet(attempts, Object.keys(steps).length === 0 ? record : { ...record, steps });
    },

    get: (id: string) => attempts.get(id),

    /**
     * The attempt that has the task, else the newest one that was launched. A refused launch is no attempt of the task's
     * history; nor is one that is being admitted while another attempt has the task, because that one will be refused.
     */
    async latest(taskId: string): Promise<AttemptRecord | undefined> {
      const unfinished = await attempts.find(
        { taskId, state: { $in: active } },
        { sort: { createdAt: 1 }, limit: 100 },
      );
      const owner = unfinished.find(({ state }) => state !== 'admitted') ?? unfinished[0];
      if (owner) {
        return owner;
      }
      const [newest] = await attempts.find(
        { taskId, state: { $ne: 'refused' } },
        { sort: { createdAt: -1 }, limit: 1 },
      );
      return newest;
    },

    /** The newest first; with `before`, those made before that moment; refused launches only when `states` has them. */
    list: (
      taskId: string,
      part: PageRequest,
      { before, states }: { before?: string | undefined; states?: readonly AttemptState[] | undefined } = {},
    ): Promise<Page<AttemptRecord>> =>
      findPage(
        attempts,
        {
          filter: {
            taskId,
            state: states ? { $in: [...states] } : { $ne: 'refused' },
            ...(before === undefined ? {} : { createdAt: { $lt: before } }),
          },
          order: { key: 'createdAt', direction: -1 },
        },
        part,
      ),

    /**
     * Every attempt that is not over. Those are read last that came furthest, so that none is passed over that comes further
     * meanwhile; it may be yielded twice.
     */
    async *active(pageSize?: number): AsyncGenerator<AttemptRecord> {
      for (const state of active) {
        yield* inPages(attempts, { state }, pageSize);
      }
    },

    /** Attempts that ended before a moment and still have their events, those that ended first before the others. */
    async *endedBefore(moment: string): AsyncGenerator<AttemptRecord> {
      const due = inOrder(attempts, {
        field: 'endedAt',
        before: moment,
        filter: { eventsPurgedAt: { $exists: false } },
      });
      // One whose end is being recorded has the rest of its events still before it.
      for await (const record of due) {
        if (!active.includes(record.state)) {
          yield record;
        }
      }
    },

    /** Records that the events of an attempt were purged after their retention. */
    eventsPurged: (id: string, at: string) =>
      attempts.findOneAndUpdate({ _id: id }, { $set: { eventsPurgedAt: at }, $inc: { revision: 1 } }),

    /** Some of the attempts that are not over, the newest first. */
    listActive: (limit: number): Promise<ActiveAttempt[]> =>
      attempts.findFields({ state: { $in: active } }, activeFields, { sort: { createdAt: -1 }, limit }),

    /** What the newest attempts of a task have used; refused launches have used nothing. */
    async usages(taskId: string, limit: number): Promise<RunUsage[]> {
      const sort = { createdAt: -1, _id: -1 } as const;
      const newest = await attempts.findFields({ taskId, state: { $in: launched } }, ['usage'], { sort, limit });
      return newest.flatMap(({ usage }) => (usage ? [usage] : []));
    },

    /** Records the response to the caller, so that a repeated request gets the same. */
    answer: (id: string, launch: LaunchOutcome, state: AttemptState) =>
      move(id, { from: ['queued', 'admitted'], fields: { launch, state } }),

    /**
     * Abandons a launch, before anything that it holds is released: a worker that prepares it late takes nothing again.
     * `undefined` when its agent was dispatched, or it has ended.
     */
    abandon: (id: string, at: string) =>
      move(id, {
        from: ['queued', 'admitted', 'prepared'],
        fields: { abandonedAt: at },
        also: { abandonedAt: { $exists: false } },
      }),

    /** Ends an abandoned launch, also one that was prepared by then. */
    refuse: (id: string, launch: LaunchOutcome, endedAt: string) =>
      move(id, { from: ['queued', 'admitted', 'prepared', 'refused'], fields: { state: 'refused', launch, endedAt } }),

    /** Stores the launch contract; nothing is dispatched without it, and nothing changes it afterwards. */
    markPrepared: (id: string, contract: ContractFields) =>
      move(id, { from: ['queued', 'admitted'], fields: { ...contract, state: 'prepared' }, also: goesOn }),

    /** The point of no return. Only one caller ever gets the record, and none once the attempt was reclaimed. */
    dispatch: (id: string, supervisor?: AttemptRecord['supervisor']) =>
      move(id, {
        from: ['prepared'],
        fields: { state: 'dispatched', ...(supervisor ? { supervisor } : {}) },
        also: goesOn,
      }),

    /** Whether the attempt still runs under this supervisor: checked right before its agent is started, or ended. */
    isSupervisedBy: async (id: string, { pid, startTime, bootId }: Supervising): Promise<boolean> =>
      (await attempts.count({ ...goesOn, _id: id, ...supervisedBy({ pid, startTime }), 'supervisor.bootId': bootId })) >
      0,

    /** Renews the supervisor of the agent; `undefined` when another one does. */
    supervise: (id: string, { pid, startTime }: { pid: number; startTime: string }, until: string) =>
      attempts.findOneAndUpdate(
        { _id: id, 'supervisor.pid': pid, 'supervisor.startTime': startTime },
        { $set: { 'supervisor.until': until } },
      ),

    /** Gives a running agent to another supervisor; `undefined` when the attempt is not what it was any more. */
    takeOver: (id: string, revision: number, supervisor: NonNullable<AttemptRecord['supervisor']>) =>
      attempts.findOneAndUpdate(
        {
          _id: id,
          revision,
          state: 'running',
          claim: { $exists: false },
          reclaimed: { $exists: false },
          completion: { $exists: false },
        },
        { $set: { supervisor }, $inc: { revision: 1 } },
      ),

    /** Records the agent's process, once; `undefined` when the attempt runs already, was reclaimed or has ended. */
    start: (id: string, { process, startedAt, supervisor }: AttemptStart) =>
      move(id, {
        from: ['dispatched'],
        fields: { state: 'running', startedAt, ...(process ? { process } : {}) },
        also: { ...goesOn, ...(supervisor ? supervisedBy(supervisor) : {}) },
      }),

    /**
     * Records what the provider saw at the end; refused once the host has reclaimed the attempt, or another worker has adopted
     * it.
     */
    claim: (id: string, claim: TerminalClaim, supervisor: Supervising) =>
      attempts.findOneAndUpdate(
        {
          ...goesOn,
          ...supervisedBy(supervisor),
          _id: id,
          state: { $in: ['dispatched', 'running'] },
          claim: { $exists: false },
        },
        { $set: { claim }, $inc: { revision: 1 } },
      ),

    /** Records the budget that the run used up, before its agent is ended; the first stands. */
    exhaust: (id: string, exhausted: BudgetUse) =>
      attempts.findOneAndUpdate(
        { ...goesOn, _id: id, exhausted: { $exists: false }, claim: { $exists: false } },
        { $set: { exhausted }, $inc: { revision: 1 } },
      ),

    /** Records what the host saw when the end was reported; the first record wins. */
    observe: (id: string, observed: ObservedEnd) =>
      attempts.findOneAndUpdate(
        { _id: id, observed: { $exists: false }, completion: { $exists: false } },
        { $set: { observed }, $inc: { revision: 1 } },
      ),

    /**
     * Takes the attempt from its supervisor, whose claim is refused from now on; `undefined` when that came first, or the
     * attempt has ended: its work is not touched any more.
     */
    reclaim: (id: string, at: string) =>
      attempts.findOneAndUpdate(
        { _id: id, claim: { $exists: false }, completion: { $exists: false } },
        { $set: { 'reclaimed.at': at }, $inc: { revision: 1 } },
      ),

    /** Records the preserved work of a reclaimed attempt. */
    preserve: (id: string, preservedRef: string) =>
      attempts.findOneAndUpdate(
        { _id: id, reclaimed: { $exists: true } },
        { $set: { 'reclaimed.preservedRef': preservedRef }, $inc: { revision: 1 } },
      ),

    /** Records that no work of a reclaimed attempt could be preserved, and why. */
    loseWork: (id: string, workLost: string) =>
      attempts.findOneAndUpdate(
        { _id: id, reclaimed: { $exists: true } },
        { $set: { 'reclaimed.workLost': workLost }, $inc: { revision: 1 } },
      ),

    /** Records that everything about the end of the attempt is done. */
    end: async (id: string) =>
      attempts.findOneAndUpdate(
        { _id: id, completion: { $exists: true }, state: { $ne: 'ended' } },
        { $set: { state: 'ended', ...(await stepTimes('ended')) }, $inc: { revision: 1 } },
      ),

    /** Records what the attempt used. */
    recordUsage: (id: string, usage: RunUsage) => attempts.findOneAndUpdate({ _id: id }, { $set: { usage } }),

    /** Stores the terminal record; `undefined` when there is one already, which wins. */
    complete: (id: string, completion: CompletionResult) =>
      attempts.findOneAndUpdate(
        { _id: id, completion: { $exists: false } },
        { $set: { completion, endedAt: completion.completedAt }, $inc: { revision: 1 } },
      ),
  };
}

export type AttemptStore = Awaited<ReturnType<typeof createAttemptStore>>;

/** An attempt as callers see it. */
export const presentAttempt = (record: AttemptRecord): Attempt => {
  const { _id: id, schemaVersion, taskId, rootAttemptId, parentAttemptId, retryNumber, conversation } = record;
  const { agent, provider, phase, commitPolicy, state, revision, hostId, createdAt, createdBy } = record;
  const { startedAt, endedAt, eventsPurgedAt, completion, usage, launch } = record;
  const refusal = launch?.status === 'refused' ? { code: launch.code, message: launch.message } : undefined;
  return {
    ...{ schemaVersion, id, taskId, rootAttemptId, ...compact({ parentAttemptId }), retryNumber },
    ...{ ...compact({ conversation }), agent, provider, phase, commitPolicy, state, revision, hostId },
    ...{ createdAt, createdBy, ...compact({ startedAt, endedAt, eventsPurgedAt, completion, usage, refusal }) },
  };
};

import type { CommandResponse } from '../../../contracts/runs/command';
import type { RunEventInput } from '../../../contracts/runs/event';
import {
  defaultWatchdogSettings,
  observationRequest,
  ProgressWatch,
  recordsOf,
  watchdogActor,
  watchdogKey,
  type WatchdogRecords,
  type WatchdogSettings,
} from '../../../domain/watchdog';
import type { Log } from '../../../platform/log/log';
import type { AttemptRecord } from '../../../stores/runs/attempt-store';
import type { RunEventStore } from '../../../stores/runs/event-store';
import type { WatchdogStore } from '../../../stores/runs/watchdog-store';
import type { CommandInput } from '../../../workflows/agent-run/messages';
import { sourceOf } from '../../shared/event-source';

export interface WatchdogDependencies {
  watchdog: WatchdogStore;
  events: Pick<RunEventStore, 'append' | 'read'>;
  /** Sends the agent a command the way people do; rejects with the reason of a refusal. */
  command(command: CommandInput & { commandId: string }): Promise<CommandResponse>;
  /** The status of a task: a change of it is progress that no event of the run shows. */
  taskStatus(taskId: string): Promise<string | undefined>;
  settings?: WatchdogSettings;
  log: Log;
  now(): Date;
}

/** Shortest time between two reads of the task's status, in milliseconds. */
const statusEveryMs = 1_000;

/** How many events that others appended are read at a time. */
const pageSize = 500;

/**
 * Watches one run where its events pass. A finding is recorded once, under an id that follows from the events; one that cannot
 * be recorded now is recorded with the next events, and is no reason to end a run.
 */
export function watchRun(deps: WatchdogDependencies, record: AttemptRecord) {
  const watch = new ProgressWatch(deps.settings ?? defaultWatchdogSettings);
  const source = sourceOf(record);
  let waiting: WatchdogRecords[] = [];
  let last = 0;
  let status: { value: string | undefined; at: number } | undefined;

  return {
    /** Receives events of the agent with the sequences they were given, in order, one call at a time. */
    appended: (events: readonly RunEventInput[], sequences: readonly number[]): Promise<void> =>
      unharmed(async () => {
        await inspectTask();
        for (const [index, event] of events.entries()) {
          await take(event, sequences[index] ?? 0);
        }
        await flush();
      }),

    /** Takes whatever is in the log by now. */
    caughtUp: (): Promise<void> =>
      unharmed(async () => {
        await inspectTask();
        await observeOthers(Number.MAX_SAFE_INTEGER);
        await flush();
      }),

    /** Records what could not be recorded before. */
    ended: (): Promise<void> => unharmed(flush),
  };

  /** The run continues whatever becomes of the watchdog. */
  async function unharmed(work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      deps.log.warn({ err: error, attemptId: record._id }, 'watchdog finding not recorded');
    }
  }

  async function flush(): Promise<void> {
    while (waiting[0]) {
      await keep(waiting[0]);
      waiting = waiting.slice(1);
    }
  }

  async function take(event: RunEventInput, sequence: number): Promise<void> {
    // A repeated event has the sequence of its first occurrence.
    if (sequence <= last) {
      return;
    }
    if (sequence > last + 1) {
      await observeOthers(sequence - 1);
    }
    see({ ...event, sequence, receivedAt: event.receivedAt ?? deps.now().toISOString() });
  }

  /** What others appended in between: messages of an operator, decisions, and the watchdog's own events. */
  async function observeOthers(until: number): Promise<void> {
    while (last < until) {
      const events = await deps.events.read(record._id, last, Math.min(until - last, pageSize));
      if (events.length === 0) {
        return;
      }
      for (const event of events) {
        see(event);
      }
    }
  }

  function see(event: Parameters<ProgressWatch['see']>[0]): void {
    last = event.sequence;
    waiting.push(
      ...watch.see(event).map((sighting) => recordsOf({ taskId: record.taskId, attemptId: record._id }, sighting)),
    );
  }

  async function inspectTask(): Promise<void> {
    const at = deps.now().getTime();
    if (status && at - status.at < statusEveryMs) {
      return;
    }
    const value = await deps.taskStatus(record.taskId);
    if (status && status.value !== value) {
      watch.progress('task-transition', last);
    }
    status = { value, at };
  }

  /** The event comes first: it is published once, and a finding without it would never be published. */
  async function keep({ finding, action }: WatchdogRecords): Promise<void> {
    if (action.state !== 'suppressed') {
      await deps.events.append(source, [announcement({ finding, action })]);
    }
    const isNew = await deps.watchdog.record(finding, action);
    if (isNew && action.state === 'requested') {
      void carryOut({ finding, action });
    }
  }

  /** Does not delay the events of the run; an action that could not be carried out stays requested, with the reason. */
  async function carryOut({ finding, action }: WatchdogRecords): Promise<void> {
    try {
      const outcome = action.action === 'warn' ? { state: 'completed' as const } : await signalAgent(finding, action);
      await deps.watchdog.settle(action.id, outcome, deps.now().toISOString());
    } catch (error) {
      deps.log.warn({ err: error, attemptId: record._id, finding: finding.id }, 'watchdog action lost');
    }
  }

  async function signalAgent(
    finding: WatchdogRecords['finding'],
    { id: commandId, action }: WatchdogRecords['action'],
  ): Promise<{ state: 'requested' | 'completed'; reason?: string }> {
    const command =
      action === 'pause'
        ? { type: 'interrupt' as const }
        : { type: 'steer' as const, message: observationRequest(finding) };
    const from = { actor: watchdogActor, sentBy: watchdogActor };
    try {
      const { delivered, reason } = await deps.command({ attemptId: record._id, commandId, ...command, ...from });
      return delivered ? { state: 'completed' } : { state: 'requested', reason: reason ?? 'not-delivered' };
    } catch (error) {
      deps.log.info({ err: error, attemptId: record._id, action }, 'watchdog action awaits an operator');
      return { state: 'requested', reason: reasonOf(error) };
    }
  }
}

export type RunWatch = ReturnType<typeof watchRun>;

const announcement = ({ finding, action }: WatchdogRecords): RunEventInput => ({
  kind: 'progress',
  payload: {
    message: finding.summary,
    watchdog: {
      findingId: finding.id,
      detector: finding.detector,
      confidence: finding.confidence,
      action: action.action,
    },
  },
  dedupeKey: `${watchdogKey}${finding.id}`,
});

/** The type a workflow refused a command with, which a person can search for. */
function reasonOf(error: unknown): string {
  const cause = error instanceof Error ? error.cause : undefined;
  const type = typeof cause === 'object' && cause !== null && 'type' in cause ? cause.type : undefined;
  return typeof type === 'string' ? type : 'unreachable';
}

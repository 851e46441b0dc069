import { ApplicationFailure } from '@temporalio/common';
import type { ToolCallState } from '../../contracts/integrations/tool-call';
import type { ToolServerDefinition } from '../../contracts/integrations/tool-server';
import { isStillCallable } from '../../domain/tool-servers/catalog';
import { toolServerChanged } from '../../domain/tool-servers/refusals';
import { withHeartbeat } from '../../platform/temporal/heartbeat';
import type { ToolServerPool } from '../../providers/tool-servers/pool';
import type { ToolCallEnd, ToolCallRecord, ToolCallStore } from '../../stores/integrations/tool-call-store';
import type { ToolCatalogStore } from '../../stores/integrations/tool-catalog-store';
import type { ToolServerStore } from '../../stores/integrations/tool-server-store';
import type { AttemptRecord, AttemptStore } from '../../stores/runs/attempt-store';
import type { RunEventStore } from '../../stores/runs/event-store';
import { hasRunningAgent } from '../../stores/runs/launch/launch-parent';
import type { ToolCallRef } from '../../workflows/tool-call/messages';
import { publishCall } from './events';
import { sendCall, settleCall } from './send';

export interface ToolCallRecordDependencies {
  attempts: Pick<AttemptStore, 'get'>;
  calls: ToolCallStore;
  events: Pick<RunEventStore, 'appendUnlessEnded'>;
  now(): Date;
}

export interface ToolCallDependencies extends ToolCallRecordDependencies {
  catalogs: Pick<ToolCatalogStore, 'get'>;
  servers: Pick<ToolServerStore, 'definition'>;
  pool: Pick<ToolServerPool, 'use' | 'close'>;
}

/** What the worker of the agent does of a call. */
export function createToolCallActivities(deps: ToolCallDependencies) {
  return {
    /**
     * Sends the call to its server, once or never: a call that is taken already, or whose run or server is not the one that it was
     * requested of any more, is not sent.
     */
    async runToolCall(ref: ToolCallRef): Promise<void> {
      const { attempt, call } = await loaded(deps, ref);
      if (call.state !== 'requested') {
        return;
      }
      const definition = await deps.servers.definition(call.serverId);
      const problem = await problemOf(attempt, call, definition);
      if (problem || !definition) {
        await end(attempt, call, { state: 'failed', error: problem ?? toolServerChanged(call.serverId) });
        return;
      }
      try {
        await withHeartbeat((signal) => send({ attempt, call, definition }, signal));
      } finally {
        // A run that ended meanwhile has closed its servers before this one was started.
        const present = await deps.attempts.get(attempt._id);
        if (!present || !hasRunningAgent(present)) {
          await deps.pool.close(attempt._id);
        }
      }
    },
  };

  async function send(
    { attempt, call, definition }: { attempt: AttemptRecord; call: ToolCallRecord; definition: ToolServerDefinition },
    signal: AbortSignal,
  ): Promise<void> {
    const outcome = await sendCall(
      {
        pool: deps.pool,
        take: async () => {
          const taken = await deps.calls.dispatch(call.id, deps.now().toISOString());
          if (taken) {
            await publishCall(deps.events, attempt, taken);
          }
          return taken;
        },
      },
      { definition, key: attempt._id, tool: call.tool, signal },
    );
    if (outcome) {
      await end(attempt, call, outcome);
    }
  }

  async function end(attempt: AttemptRecord, { id }: ToolCallRecord, outcome: ToolCallEnd): Promise<void> {
    const at = deps.now().toISOString();
    const ended = await deps.calls.end(id, { from: ['requested', 'dispatched'], end: outcome, at });
    if (ended) {
      await publishCall(deps.events, attempt, ended);
    }
  }

  /** Why the call is not sent, by what the stores have of its run and its server now. */
  async function problemOf(
    attempt: AttemptRecord,
    call: ToolCallRecord,
    definition: ToolServerDefinition | undefined,
  ): Promise<NonNullable<ToolCallRecord['error']> | undefined> {
    if (!hasRunningAgent(attempt)) {
      return { code: 'run-ended', message: 'The run has no running agent any more.', remedy: 'Start a new run.' };
    }
    const catalog = await deps.catalogs.get(attempt._id);
    return definition && isStillCallable(call, catalog, definition) ? undefined : toolServerChanged(call.serverId);
  }
}

export type ToolCallActivities = ReturnType<typeof createToolCallActivities>;

/** What needs the stores alone. */
export function createToolCallRecordActivities(deps: ToolCallRecordDependencies) {
  return {
    /** The queue of the worker that supervises the agent of the call; `null` when none does, or the call has its end. */
    async toolCallQueue(ref: ToolCallRef): Promise<string | null> {
      const { attempt, call } = await loaded(deps, ref);
      return call.state === 'requested' && hasRunningAgent(attempt) ? (attempt.supervisor?.queue ?? null) : null;
    },

    /** Gives a call without an end one: it was not sent, or its response was lost. Returns how it stands. */
    async settleToolCall(ref: ToolCallRef): Promise<ToolCallState> {
      const { attempt, call } = await loaded(deps, ref);
      await settleCall(deps.calls, call.id, { notSent, at: deps.now().toISOString() });
      const settled = await deps.calls.get(call.id);
      await publishCall(deps.events, attempt, settled ?? call);
      return settled?.state ?? call.state;
    },
  };
}

export type ToolCallRecordActivities = ReturnType<typeof createToolCallRecordActivities>;

const notSent = {
  code: 'worker-unavailable',
  message: 'No worker supervises the agent of the run, or it did not respond; the call was not sent.',
  remedy: 'Call again with a new operationId once the run has a worker.',
};
/** The call and its attempt. @throws ApplicationFailure for a call that was not requested */
async function loaded(
  { attempts, calls }: Pick<ToolCallRecordDependencies, 'attempts' | 'calls'>,
  { attemptId, callId }: ToolCallRef,
): Promise<{ attempt: AttemptRecord; call: ToolCallRecord }> {
  const [attempt, call] = await Promise.all([attempts.get(attemptId), calls.get(callId)]);
  if (!attempt || call?.attemptId !== attemptId) {
    throw ApplicationFailure.nonRetryable(`No call ${callId} of ${attemptId}.`, 'TOOL_CALL_MISSING');
  }
  return { attempt, call };
}

import { setTimeout as delay } from 'node:timers/promises';
import { activeAttemptStates } from '../../../contracts/runs/attempt';
import type { AgentCommandType, CommandResponse } from '../../../contracts/runs/command';
import { agentCommand, capabilityEvidence, commandCapability, commandEvent } from '../../../domain/commands';
import { contractMismatch } from '../../../domain/integrity';
import { type PhaseNotice, phaseNotice } from '../../../domain/phases/notice';
import { compact } from '../../../platform/json/compact';
import { withHeartbeat } from '../../../platform/temporal/heartbeat';
import type { Stores } from '../../../stores/open-stores';
import type { AttemptRecord, AttemptStore } from '../../../stores/runs/attempt-store';
import type { RunCommand } from '../../../stores/runs/command-store';
import type { PhaseStore } from '../../../stores/runs/phase-store';
import type { AuditStore } from '../../../stores/system/audit-store';
import type { CommandInput, CommandRefusal } from '../../../workflows/agent-run/messages';
import { claimed, temporalOperator } from '../../../workflows/operator';
import { sourceOf } from '../../shared/event-source';
import type { AgentStops } from '../dispatch/agent-stops';
import type { LiveAgents } from '../dispatch/live-agents';

export interface CommandDependencies extends Pick<Stores, 'commands' | 'events'> {
  attempts: Pick<AttemptStore, 'get'>;
  now(): Date;
}

export interface CommandActivityDependencies extends CommandDependencies {
  phases: Pick<PhaseStore, 'get'>;
  audit: Pick<AuditStore, 'record'>;
}

/** What an operator may send a run without the API: nothing that lasts longer than the run. */
const operatorCommands: readonly AgentCommandType[] = ['message', 'steer', 'interrupt', 'compact'];

/** The sender of phase changes to an agent, and the id of that command. */
const phaseActor = 'system:phase';
const phaseCommandId = /^phase-(\d+)$/;

/** A command by its identity, the key of everything else. */
export interface CommandRef {
  attemptId: string;
  commandId: string;
}

/** What follows on an accepted command: delivery on a worker's own queue, or an outcome that stands already. */
export type Accepted = ({ deliverOn: string } | { outcome: CommandResponse } | { refusal: CommandRefusal }) & {
  /** Who it is from. */
  from?: string;
};

/** How long a command waits for a run that is about to be dispatched, in milliseconds. */
const dispatchWithinMs = 3_000;
/** Likewise for the end of a run, whose workflow does nothing else meanwhile; in milliseconds. */
const supervisedWithinMs = 250;

export function createCommandActivities(deps: CommandActivityDependencies) {
  return {
    /**
     * Checks a command against the attempt's present state, and records an operator's; the sender of any other one is in the
     * stores. A message to a provider that accepts none is only recorded.
     */
    async acceptCommand(input: CommandInput & { commandId: string }): Promise<Accepted> {
      const record = await dispatched(deps, input.attemptId, dispatchWithinMs);
      if (!record) {
        return { refusal: { code: 'NOT_FOUND', message: 'The attempt is missing.', details: {} } };
      }
      const refusal = refusalOf(record, input);
      if (refusal) {
        return { refusal };
      }
      const command = await written(input, record);
      if ('refusal' in command) {
        return command;
      }
      const from = command.actor;
      if (command.type !== input.type) {
        return {
          refusal: {
            code: 'COMMAND_CONFLICT',
            message: 'The command id belongs to another command; use a new one.',
            details: {},
          },
        };
      }
      if (isSettled(command)) {
        return { from, outcome: await appendOutcome(deps, record, command) };
      }
      const evidence = evidenceOf(record, input.type);
      if (!evidence.usable) {
        return { from, outcome: await settle(deps, record, { command, reason: evidence.reason }) };
      }
      const queue = supervisorQueueOf(record);
      return queue === undefined
        ? { from, outcome: await settle(deps, record, { command, reason: 'agent-lost' }) }
        : { from, deliverOn: queue };
    },

    /**
     * Records a command as not delivered when its delivery did not return. One that was being delivered when its worker was
     * lost may have reached the agent: it is not delivered again, and its reason states so.
     */
    async settleCommand({ attemptId, commandId }: CommandRef): Promise<CommandResponse> {
      const record = await mustGet(deps, attemptId);
      const command = await deps.commands.get(attemptId, commandId);
      if (!command) {
        throw new Error(`The command ${commandId} of ${attemptId} is missing from the stores.`);
      }
      return settle(deps, record, {
        command,
        reason: command.state === 'delivering' ? 'outcome-unknown' : 'agent-lost',
      });
    },

    /** A change of a run's permissions, as the stores have it; `null` when there is none of this number. */
    phaseNotice: async ({
      attemptId,
      sequence,
    }: {
      attemptId: string;
      sequence: number;
    }): Promise<PhaseNotice | null> => (await noticeOf(attemptId, sequence)) ?? null,

    /** The queue of the worker process that supervises the agent, or is about to; `null` when none does. */
    async supervisorQueue({ attemptId }: { attemptId: string }): Promise<string | null> {
      const record = await dispatched(deps, attemptId, supervisedWithinMs);
      return !record || record.claim ? null : (supervisorQueueOf(record) ?? null);
    },
  };

  /** The command as its sender recorded it; one without a record is an operator's. */
  async function written(
    { commandId, type, message, actor }: CommandInput & { commandId: string },
    { _id: attemptId, taskId }: AttemptRecord,
  ): Promise<RunCommand | { refusal: CommandRefusal }> {
    const recorded = await deps.commands.get(attemptId, commandId);
    if (recorded) {
      return recorded;
    }
    const command = { commandId, attemptId, taskId, type, createdAt: deps.now().toISOString() };
    const announced = phaseCommandId.exec(commandId)?.[1];
    if (announced !== undefined) {
      const notice = await noticeOf(attemptId, Number(announced));
      if (!notice || type !== 'message') {
        return refused('INVALID_COMMAND', 'No change of the phase has this id.');
      }
      return deps.commands.request({ ...command, message: notice.message, actor: phaseActor, sentBy: phaseActor });
    }
    if (!operatorCommands.includes(type)) {
      return refused('OPERATOR_FORBIDDEN', `An operator may not send ${type}: send it to the API.`);
    }
    const worded = type === 'message' || type === 'steer';
    if (worded && message === undefined) {
      return refused('INVALID_COMMAND', 'The command has no message.');
    }
    const details = { type, commandId: commandId.slice(0, 200), claimedActor: claimed(actor) };
    await deps.audit.record({ action: 'run.command', actor: temporalOperator, resource: attemptId, details });
    const words = message === undefined ? {} : { message };
    return deps.commands.request({ ...command, ...words, actor: temporalOperator, sentBy: temporalOperator });
  }

  async function noticeOf(attemptId: string, sequence: number): Promise<PhaseNotice | undefined> {
    const entry = (await deps.phases.get(attemptId))?.history.find((each) => each.sequence === sequence);
    return entry && phaseNotice(entry);
  }
}

const refused = (code: string, message: string): { refusal: CommandRefusal } => ({
  refusal: { code, message, details: {} },
});

export type CommandActivities = ReturnType<typeof createCommandActivities>;

export function createDeliveryActivities(deps: CommandDependencies & { live: LiveAgents; stops: AgentStops }) {
  return {
    /** Ends the agent that this process supervises, as the cancellation of its activity does when that arrives. */
    async endAgent({ attemptId }: { attemptId: string }): Promise<void> {
      deps.stops.end(attemptId);
    },

    /** Delivers a command to the agent that runs in this process: once, whatever is repeated. */
    async deliverCommand({ attemptId, commandId }: CommandRef): Promise<CommandResponse> {
      return withHeartbeat(async () => {
        const record = await mustGet(deps, attemptId);
        const delivered = await deps.live.with(attemptId, async (agent) => {
          const command = await deps.commands.deliver(attemptId, commandId);
          if (!command) {
            return undefined;
          }
          const outcome = await agent.command(agentCommand(command.type, command.message));
          return settle(deps, record, { command, reason: outcome.delivered ? undefined : outcome.reason });
        });
        if (delivered) {
          return delivered;
        }
        const command = await deps.commands.get(attemptId, commandId);
        if (!command) {
          throw new Error(`The command ${commandId} of ${attemptId} is missing from the stores.`);
        }
        return settle(deps, record, {
          command,
          reason: command.state === 'delivering' ? 'outcome-unknown' : 'agent-ended',
        });
      });
    },
  };
}

export type DeliveryActivities = ReturnType<typeof createDeliveryActivities>;

/** The attempt, once its agent is being started or it is certain that none will be for a while. */
async function dispatched(
  { attempts }: CommandDependencies,
  attemptId: string,
  withinMs: number,
): Promise<AttemptRecord | undefined> {
  const until = Date.now() + withinMs;
  for (;;) {
    const record = await attempts.get(attemptId);
    if (record?.state !== 'prepared' || Date.now() > until) {
      return record;
    }
    await delay(20);
  }
}

/** The queue of a worker that is gone is not waited for, one command after the other. */
const supervisorQueueOf = ({ supervisor, reclaimed }: AttemptRecord): string | undefined =>
  reclaimed ? undefined : supervisor?.queue;

function refusalOf(record: AttemptRecord, input: CommandInput): CommandRefusal | undefined {
  const mismatch = contractMismatch(record, input);
  if (mismatch) {
    return {
      code: 'MANIFEST_MISMATCH',
      message: `The ${mismatch.document} differs from the one this run was launched with.`,
      details: { attemptId: record._id, ...mismatch },
    };
  }
  if (record.completion || !activeAttemptStates.includes(record.state)) {
    return {
      code: 'RUN_ENDED',
      message: 'The run has ended.',
      details: { attemptId: record._id, state: record.state },
    };
  }
  if (record.state !== 'dispatched' && record.state !== 'running') {
    return {
      code: 'RUN_NOT_RUNNING',
      message: 'The agent is not running yet; try again when it is.',
      details: { attemptId: record._id, state: record.state },
    };
  }
  const { usable, ...evidence } = evidenceOf(record, input.type);
  if (usable || input.type === 'message') {
    return undefined;
  }
  return { code: 'CAPABILITY_UNSUPPORTED', message: evidence.reason, details: { attemptId: record._id, ...evidence } };
}

const evidenceOf = (record: AttemptRecord, type: RunCommand['type']) =>
  capabilityEvidence(record.providerRuntimeManifest, type, commandCapability[type]);

const isSettled = ({ state }: RunCommand): boolean => state === 'delivered' || state === 'undelivered';

/** Records the outcome, unless one is recorded, which then stands, and publishes it. */
async function settle(
  deps: CommandDependencies,
  record: AttemptRecord,
  { command, reason }: { command: RunCommand; reason: string | undefined },
): Promise<CommandResponse> {
  const settledAt = deps.now().toISOString();
  const outcome = { settledAt, ...compact({ reason }) };
  const { attemptId, commandId } = command;
  const settled =
    (await deps.commands.settle(attemptId, commandId, outcome)) ?? (await deps.commands.get(attemptId, commandId));
  return appendOutcome(deps, record, settled ?? command);
}

/** Appends the event of a settled command, once however often it is published. */
async function appendOutcome(
  deps: CommandDependencies,
  record: AttemptRecord,
  command: RunCommand,
): Promise<CommandResponse> {
  const answer: CommandResponse = {
    attemptId: command.attemptId,
    commandId: command.commandId,
    action: command.type,
    delivered: command.state === 'delivered',
    ...compact({ reason: command.reason }),
  };
  const event = commandEvent(answer, command);
  if (event && (answer.delivered || !record.completion)) {
    await deps.events.appendUnlessEnded(sourceOf(record), [event]);
  }
  return answer;
}

async function mustGet({ attempts }: CommandDependencies, attemptId: string): Promise<AttemptRecord> {
  const record = await attempts.get(attemptId);
  if (!record) {
    throw new Error(`The attempt ${attemptId} is missing from the stores.`);
  }
  return record;
}

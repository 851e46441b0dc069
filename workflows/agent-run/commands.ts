import { ApplicationFailure, CancellationScope, condition, currentUpdateInfo, setHandler } from '@temporalio/workflow';
import type { AgentCommandType, CommandResponse } from '../../contracts/runs/command';
import type { LaunchOutcome } from '../../contracts/runs/launch/launch';
import { reject } from '../reject';
import {
  capabilityUnsupported,
  type CommandInput,
  type CommandRefusal,
  commandUpdate,
  invalidCommand,
  manifestMismatch,
  notRunning,
  runEnded,
  type RunTimings,
  staleAttempt,
  tooManyCommands,
} from './messages';
import type { OperatorView } from './operator-view';
import { commands, deliveryOn } from './proxies';

/** Limit of commands of one run that wait for each other. */
const maxWaiting = 16;
/** Commands of one run altogether: each leaves some events in its history, which has an end. */
const maxCommands = 1_000;

/** The run, as its commands read it. */
export interface CommandedRun {
  readonly attemptId: string;
  /** The launch once its contract is stored. */
  readonly started: LaunchOutcome | undefined;
  /** The commands that the agent accepts, once its adapter is determined. */
  readonly takes: readonly AgentCommandType[] | undefined;
  readonly isEnding: boolean;
  readonly view: Pick<OperatorView, 'log'>;
}

/**
 * Accepts commands for a run's agent. They reach it one at a time, in the order they were accepted; each has one recorded
 * outcome, whichever worker dies in between.
 *
 * @returns sends the agent a command of the run itself, after those that wait
 */
export function acceptCommands(
  run: CommandedRun,
  timings: RunTimings,
): (command: CommandInput & { commandId: string }) => Promise<CommandResponse> {
  let queued = 0;
  let serving = 1;

  const runExclusive = async (work: () => Promise<CommandResponse>): Promise<CommandResponse> => {
    queued += 1;
    const ticket = queued;
    await condition(() => serving === ticket);
    try {
      return await work();
    } finally {
      serving += 1;
    }
  };

  setHandler(
    commandUpdate,
    async (command) => {
      const commandId = command.commandId ?? currentUpdateInfo()?.id ?? reject(invalidCommand, 'It has no id.');
      // An operator's cancel of the workflow is a stop: commands in delivery are still settled.
      return CancellationScope.nonCancellable(() =>
        runExclusive(() => carryOut({ ...command, commandId }, timings, run.view)),
      );
    },
    {
      validator: (command: CommandInput) => {
        checkShape(command);
        if (command.attemptId !== run.attemptId) {
          reject(staleAttempt, `This run is ${run.attemptId}.`);
        }
        if (run.isEnding) {
          reject(runEnded, 'The run has ended, or is being stopped.');
        }
        if (run.started?.status !== 'running') {
          reject(notRunning, 'The run has not started yet.');
        }
        checkDigests(command, run.started);
        if (run.takes && !run.takes.includes(command.type)) {
          reject(capabilityUnsupported, `The agent of this run does not support ${command.type}.`);
        }
        if (queued - serving + 1 >= maxWaiting) {
          reject(tooManyCommands, 'Too many commands wait for the agent.');
        }
        if (queued >= maxCommands) {
          reject(tooManyCommands, `A run takes ${maxCommands} commands.`);
        }
      },
    },
  );
  return (command) => runExclusive(() => carryOut(command, timings));
}

async function carryOut(
  command: CommandInput & { commandId: string },
  timings: RunTimings,
  view?: Pick<OperatorView, 'log'>,
): Promise<CommandResponse> {
  const { attemptId, commandId } = command;
  const accepted = await commands.acceptCommand(command);
  if ('refusal' in accepted) {
    refuse(accepted.refusal);
  }
  // Histories of earlier versions do not name the sender.
  view?.log(`${accepted.from ?? command.actor} sent it a command: ${command.type}.`);
  if ('outcome' in accepted) {
    return accepted.outcome;
  }
  try {
    return await deliveryOn(accepted.deliverOn, timings).deliverCommand({ attemptId, commandId });
  } catch {
    return commands.settleCommand({ attemptId, commandId });
  }
}

/** A command may be typed by hand in the Temporal UI: nothing about its shape is certain. */
function checkShape({ type, message, actor, commandId }: CommandInput): void {
  const types: AgentCommandType[] = ['message', 'steer', 'interrupt', 'compact', 'archive', 'close'];
  if (!types.includes(type)) {
    reject(invalidCommand, `type is one of ${types.join(', ')}.`);
  }
  if (typeof actor !== 'string' || actor.length === 0 || actor.length > 200) {
    reject(invalidCommand, 'actor names who it is from, in 1 to 200 characters.');
  }
  const worded = type === 'message' || type === 'steer';
  const longest = type === 'message' ? 4_000 : 20_000;
  if (!worded && message !== undefined) {
    reject(invalidCommand, `${type} has no message.`);
  }
  // A command with an id of its own may have its message in the stores.
  const isStored = message === undefined && commandId !== undefined;
  if (worded && !isStored && (typeof message !== 'string' || message.length === 0 || message.length > longest)) {
    reject(invalidCommand, `message has 1 to ${longest} characters.`);
  }
}

function checkDigests(command: CommandInput, started: Extract<LaunchOutcome, { status: 'running' }>): void {
  for (const name of ['providerRuntimeManifestDigest', 'runLaunchManifestDigest'] as const) {
    if (command[name] !== undefined && command[name] !== started[name]) {
      reject(manifestMismatch, `${name} is not the one this run was launched with.`);
    }
  }
}

function refuse({ code, message, details }: CommandRefusal): never {
  throw ApplicationFailure.create({ type: code, message, details: [details], nonRetryable: true });
}

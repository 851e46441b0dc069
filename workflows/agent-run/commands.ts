import { ApplicationFailure, CancellationScope, condition, currentUpdateInfo, setHandler } from '@temporalio/workflow';
import type { AgentCommandType, CommandAnswer } from '../../contracts/agent-command';
import type { RunStory } from './story';
import type { LaunchOutcome } from '../../contracts/launch';
import { reject } from '../reject';
import { commands, deliveryOn } from './activities';
import {
  capabilityUnsupported,
  commandUpdate,
  invalidCommand,
  manifestMismatch,
  notRunning,
  runEnded,
  staleAttempt,
  tooManyCommands,
  type CommandInput,
  type CommandRefusal,
  type RunTimings,
} from './messages';

/** Commands of one run that may wait for each other: more is nobody's conversation. */
const mostWaiting = 16;
/** Commands of one run altogether: each leaves some events in its history, which has an end. */
const mostCommands = 1_000;

/** The run as a command finds it. */
export interface CommandedRun {
  readonly attemptId: string;
  /** The launch once its contract is stored. */
  readonly started: LaunchOutcome | undefined;
  /** What the agent can be told, once that is known. */
  readonly takes: readonly AgentCommandType[] | undefined;
  readonly isEnding: boolean;
  readonly story: Pick<RunStory, 'tell'>;
}

/**
 * Lets a run be spoken to. Commands reach the agent one at a time, in the order they were accepted; each has one
 * recorded outcome, whichever worker dies in between.
 *
 * @returns hands the agent a command of the run's own, in turn
 */
export function acceptCommands(
  run: CommandedRun,
  timings: RunTimings,
): (command: CommandInput & { commandId: string }) => Promise<CommandAnswer> {
  let tickets = 0;
  let serving = 1;

  const inTurn = async (work: () => Promise<CommandAnswer>): Promise<CommandAnswer> => {
    tickets += 1;
    const ticket = tickets;
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
      // An operator's cancel of the workflow is a stop: what is being said is still settled.
      return CancellationScope.nonCancellable(() =>
        inTurn(() => carryOut({ ...command, commandId }, timings, run.story)),
      );
    },
    {
      validator: (command: CommandInput) => {
        checkShape(command);
        if (command.attemptId !== run.attemptId) reject(staleAttempt, `This run is ${run.attemptId}.`);
        if (run.isEnding) reject(runEnded, 'The run has ended, or is being stopped.');
        if (run.started?.status !== 'running') reject(notRunning, 'The run has not started yet.');
        checkDigests(command, run.started);
        if (run.takes && !run.takes.includes(command.type)) {
          reject(capabilityUnsupported, `The agent of this run does not support ${command.type}.`);
        }
        if (tickets - serving + 1 >= mostWaiting) reject(tooManyCommands, 'Too many commands wait for the agent.');
        if (tickets >= mostCommands) reject(tooManyCommands, `A run takes ${mostCommands} commands.`);
      },
    },
  );
  return (command) => inTurn(() => carryOut(command, timings));
}

async function carryOut(
  command: CommandInput & { commandId: string },
  timings: RunTimings,
  story?: Pick<RunStory, 'tell'>,
): Promise<CommandAnswer> {
  const { attemptId, commandId } = command;
  const accepted = await commands.acceptCommand(command);
  if ('refusal' in accepted) refuse(accepted.refusal);
  // Histories of earlier versions do not say who it was from.
  story?.tell(`${accepted.from ?? command.actor} sent it a command: ${command.type}.`);
  if ('outcome' in accepted) return accepted.outcome;
  try {
    return await deliveryOn(accepted.deliverOn, timings).deliverCommand({ attemptId, commandId });
  } catch {
    return commands.settleCommand({ attemptId, commandId });
  }
}

/** A command may be typed by hand in the Temporal UI: nothing about its shape is certain. */
function checkShape({ type, message, actor, commandId }: CommandInput): void {
  const types: AgentCommandType[] = ['message', 'steer', 'interrupt', 'compact', 'archive', 'close'];
  if (!types.includes(type)) reject(invalidCommand, `type is one of ${types.join(', ')}.`);
  if (typeof actor !== 'string' || actor.length === 0 || actor.length > 200) {
    reject(invalidCommand, 'actor says who it is from, in 1 to 200 characters.');
  }
  const worded = type === 'message' || type === 'steer';
  const longest = type === 'message' ? 4_000 : 20_000;
  if (!worded && message !== undefined) reject(invalidCommand, `${type} has no message.`);
  // One with an id of its own may have its words in the stores.
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

import { type Client, WorkflowNotFoundError, WorkflowUpdateFailedError, WorkflowUpdateStage } from '@temporalio/client';
import type { CommandResponse } from '../../contracts/runs/command';
import type { PhaseNotice } from '../../domain/phases/notice';
import { type MessageProofs, updateProofMs } from '../../platform/crypto/message-proof';
import { stopMessage } from '../message-proofs';
import { agentRunId, capacityReserved, type CommandInput, commandUpdate, phaseChanged, stopUpdate } from './messages';

/** The signals to runs. */
export const runSignals = (client: Client, proofs: Pick<MessageProofs, 'sign'>) => ({
  /** Signals a queued run to read its entry; false when its workflow is over. */
  async signalCapacity(attemptId: string): Promise<boolean> {
    try {
      await client.workflow.getHandle(agentRunId(attemptId)).signal(capacityReserved);
      return true;
    } catch (error) {
      if (error instanceof WorkflowNotFoundError) {
        return false;
      }
      throw error;
    }
  },

  /** Signals the new phase to a run; one that is over does not need it. */
  async signalPhase(attemptId: string, notice: PhaseNotice): Promise<void> {
    try {
      await client.workflow.getHandle(agentRunId(attemptId)).signal(phaseChanged, notice);
    } catch (error) {
      if (!(error instanceof WorkflowNotFoundError)) {
        throw error;
      }
    }
  },

  /** Requests a stop of a run without waiting for its end; false when its workflow is over. */
  async requestStop(attemptId: string, actor: string): Promise<boolean> {
    const stop = { attemptId, actor };
    const proof = proofs.sign(stopMessage(stop), updateProofMs);
    try {
      await client.workflow.getHandle(agentRunId(attemptId)).startUpdate(stopUpdate, {
        args: [{ ...stop, proof }],
        waitForStage: WorkflowUpdateStage.ACCEPTED,
        updateId: 'stop-requested',
      });
      return true;
    } catch (error) {
      if (error instanceof WorkflowNotFoundError || error instanceof WorkflowUpdateFailedError) {
        return false;
      }
      throw error;
    }
  },
});

/** Returns the outcome of a command to a run; under its id it is delivered once, however often it is repeated. */
export const commandRun = (client: Client, command: CommandInput & { commandId: string }): Promise<CommandResponse> =>
  client.workflow
    .getHandle(agentRunId(command.attemptId))
    .executeUpdate(commandUpdate, { args: [command], updateId: command.commandId });

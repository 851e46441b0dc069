import { Context, type Info } from '@temporalio/activity';
import { ApplicationFailure } from '@temporalio/common';
import { MessageProofError, type MessageProofs, type ProofProblem, type ProvenMessage } from '../crypto/message-proof';
import { messageUnproven } from '../crypto/message-proof-shape';

export interface ProofVerifierOptions {
  proofs: MessageProofs;
  /** Records that a message was refused; called no more than once a minute for the same message and problem. */
  onRefused: (message: ProvenMessage, problem: ProofProblem) => Promise<unknown>;
}

/** A refusal is written down once in this time, in milliseconds, and no more of them than these: none fills the log. */
const windowMs = 60_000;
const maxRefusals = 100;

/** Verifies messages that came through Temporal, where they are acted on. */
export function createProofVerifier({ proofs, onRefused }: ProofVerifierOptions) {
  const written = new Set<string>();
  let windowEndsAt = 0;

  async function refuse(message: ProvenMessage, problem: ProofProblem): Promise<never> {
    const key = `${problem} ${message.purpose} ${message.subject}`.slice(0, 500);
    if (Date.now() > windowEndsAt) {
      written.clear();
      windowEndsAt = Date.now() + windowMs;
    }
    if (!written.has(key) && written.size < maxRefusals) {
      written.add(key);
      await onRefused(message, problem);
    }
    throw ApplicationFailure.create({
      type: messageUnproven,
      message: `The sender of the message is not proven: its proof is ${problem}. ${adviceOn(problem)}`,
      nonRetryable: true,
      details: [{ purpose: message.purpose, subject: message.subject, problem }],
    });
  }

  return {
    /**
     * Refuses a message that was not signed for exactly this.
     *
     * @param workflowTimeMs when the message was accepted, as the workflow of a local activity has it
     * @throws ApplicationFailure `MESSAGE_UNPROVEN`, after it was written down
     */
    async require(message: ProvenMessage, proof: unknown, workflowTimeMs?: number): Promise<void> {
      try {
        proofs.verify(message, proof, acceptedAt(workflowTimeMs));
      } catch (error) {
        if (!(error instanceof MessageProofError)) {
          throw error;
        }
        await refuse(message, error.problem);
      }
    },
  };
}

const adviceOn = (problem: ProofProblem): string =>
  problem === 'expired'
    ? 'Send it to the API; if it came from there, compare the clocks of its host and of the Temporal server.'
    : 'Send it to the API.';

export type ProofVerifier = ReturnType<typeof createProofVerifier>;

/**
 * When Temporal accepted the message, so that an outage after that makes nothing too old. Only a local activity trusts its
 * workflow for it: any client can schedule every other one, at a time that the server records.
 */
function acceptedAt(workflowTimeMs: number | undefined): Date | undefined {
  const info = activityInfo();
  if (!info) {
    return undefined;
  }
  return new Date(info.isLocal && workflowTimeMs !== undefined ? workflowTimeMs : info.scheduledTimestampMs);
}

/** `undefined` outside of activities, where a caller waits for the response. */
function activityInfo(): Info | undefined {
  try {
    return Context.current().info;
  } catch {
    return undefined;
  }
}

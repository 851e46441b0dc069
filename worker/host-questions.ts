import { HandlerError, operation, service, serviceHandler } from 'nexus-rpc';
import { ApplicationFailure } from '@temporalio/common';
import { messageUnproven } from '../platform/crypto/message-proof-shape';
import type { ProofVerifier } from '../platform/temporal/proof-verifier';
import { hostService, type HostQuestions } from '../workflows/host-questions';
import { inspectMessage } from '../workflows/message-proofs';

/** What answers, for each question. */
type Answers = {
  [Q in keyof HostQuestions]: (input: HostQuestions[Q]['input']) => Promise<HostQuestions[Q]['answer']>;
};

const asked = <Q extends keyof HostQuestions>() => operation<HostQuestions[Q]['input'], HostQuestions[Q]['answer']>();

const questions = service(hostService, { preview: asked<'preview'>(), inspect: asked<'inspect'>() });

/**
 * Answers what is asked of this host, with the functions that are its activities as well. Whoever reaches Temporal's HTTP
 * API can ask, a page on the web too: only what the API has signed is answered, a preview by its activity's own check.
 */
export const answerHostQuestions = (answers: Answers, proofs: Pick<ProofVerifier, 'require'>) =>
  serviceHandler(questions, {
    preview: (_context, input) => answers.preview(input).catch(refuse),
    inspect: (_context, input) =>
      proofs
        .require(inspectMessage(input), input.proof)
        .then(() => answers.inspect(input))
        .catch(refuse),
  });

/** What proves nothing is refused for good: Temporal would ask again whatever else fails. */
function refuse(error: unknown): never {
  if (!(error instanceof ApplicationFailure) || error.type !== messageUnproven) throw error;
  throw new HandlerError('UNAUTHORIZED', error.message);
}

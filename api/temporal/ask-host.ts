import { askNexus, NexusNotServedError, type NexusServer } from '../../platform/temporal/ask-nexus';
import { hostService, type HostQuestions } from '../../workflows/host-questions';

/**
 * Asks a host something that changes nothing.
 *
 * @param options.taskQueue whose pollers are asked
 * @param options.withinMs how long the answer may take, in milliseconds
 * @throws NexusNotServedError where questions cannot be asked, and a workflow must find the answer; NexusFailedError when
 *   there is none
 */
export type AskHost = <Q extends keyof HostQuestions>(
  question: Q,
  options: { taskQueue: string; input: HostQuestions[Q]['input']; withinMs: number },
) => Promise<HostQuestions[Q]['answer']>;

/** @param server `undefined` where the HTTP API of the Temporal server is not known: nothing can be asked then */
export function createAskHost(server: NexusServer | undefined): AskHost {
  return async (question, options) => {
    if (!server) throw new NexusNotServedError('TEMPORAL_HTTP_ADDRESS is not set.');
    return askNexus(server, { service: hostService, operation: question, ...options });
  };
}

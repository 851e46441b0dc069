import type { MessageProofs, ProvenMessage } from '../../platform/crypto/message-proof';
import type { MessageProof } from '../../platform/crypto/message-proof-shape';

/**
 * A message for a worker with what proves that this API made it.
 *
 * @param lifetimeMs how long it counts until Temporal has taken it in, in milliseconds
 */
export const withProof = <T extends object>(
  proofs: Pick<MessageProofs, 'sign'>,
  input: T,
  message: ProvenMessage,
  lifetimeMs: number,
): T & { proof: MessageProof } => ({ ...input, proof: proofs.sign(message, lifetimeMs) });

import type { MessageProofs, ProvenMessage } from '../../platform/crypto/message-proof';
import type { MessageProof } from '../../platform/crypto/message-proof-shape';

interface Proof {
  message: ProvenMessage;
  /** How long it counts until Temporal has taken it in, in milliseconds. */
  lifetimeMs: number;
}

/** A message for a worker with what proves that this API made it. */
export const withProof = <T extends object>(
  proofs: Pick<MessageProofs, 'sign'>,
  input: T,
  { message, lifetimeMs }: Proof,
): T & { proof: MessageProof } => ({ ...input, proof: proofs.sign(message, lifetimeMs) });

import type { PlannedPlace } from '../activities/planned-place';
import type { PreviewInput } from '../activities/prepare';
import type { ProvenMessage } from '../platform/crypto/message-proof';
import type { MessageProof } from '../platform/crypto/message-proof-shape';
import { runApprovalId, type DecideInput } from './run-approval/messages';

/** A message with what proves who it is from: what reaches Temporal proves nothing by itself. */
export interface Signed {
  proof?: MessageProof | undefined;
}

/** Who signs what no person has asked for. */
const byService = 'system:service';

/**
 * A message as it is signed by who makes it and verified by who acts on it.
 *
 * @param purpose what may be done with it
 * @param subject the workflow or the record it is about
 */
const provenMessage = (
  purpose: string,
  subject: string,
  actor: string,
  { proof: _proof, ...body }: Signed & object,
): ProvenMessage => ({ purpose, subject, actor, body });

/** What a preview compiles names the program that a probe starts, and the repository that git reads. */
export const previewMessage = (input: PreviewInput & Signed): ProvenMessage =>
  provenMessage('launch-preview', input.hostId ?? 'board', byService, input);

/** Names the repository that git reads. */
export const inventoryMessage = (place: PlannedPlace & Signed): ProvenMessage =>
  provenMessage('workspace-inventory', place.taskId, byService, place);

/** Starts the configured editor on a host. */
export const openEditorMessage = (input: { taskId: string } & Signed): ProvenMessage =>
  provenMessage('open-editor', input.taskId, byService, input);

/** What somebody decides about a request for approval. */
export const decideMessage = (approvalId: string, decision: DecideInput): ProvenMessage =>
  provenMessage('decide', runApprovalId(approvalId), decision.actor, decision);

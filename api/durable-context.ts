import type { Client } from '@temporalio/client';
import type { MessageProofs } from '../platform/crypto/message-proof';
import type { ApprovalStore } from '../stores/approval-store';
import type { ApiContext, Area } from './context';
import type { RunsContext } from './runs/context';
import type { AskHost } from './temporal/ask-host';

/** What the areas share that need Temporal, or what its workers write. */
export interface DurableContext extends ApiContext {
  client: Client;
  /** Asks a host what somebody waits for. */
  ask: AskHost;
  /** Proves to workers what callers have decided: Temporal proves nothing of a message. */
  proofs: MessageProofs;
  runs: RunsContext;
  approvals: ApprovalStore;
  now: () => Date;
}

/** Opens what one area needs besides, and answers its routes. */
export type OpenArea = (context: DurableContext) => Promise<Area>;

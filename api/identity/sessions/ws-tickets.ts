import { z } from 'zod';
import type { PresentedCredential } from '../../../platform/http/auth/credentials';
import type { WsTicketStore } from '../../../stores/identity/sessions/ws-ticket-store';

/** How long a ticket may be used, in milliseconds. */
export const ticketMs = 30_000;

const credentials = z.array(z.object({ carrier: z.enum(['cookie', 'bearer', 'header', 'query']), value: z.string() }));
const issued = z.union([
  z.object({ credentials, workspaceId: z.string().optional() }),
  // Of a replica of an earlier version.
  credentials.transform((presented) => ({ credentials: presented, workspaceId: undefined })),
]);

/** What the caller of a ticket had presented, and the workspace that it had named. */
export interface TicketCaller {
  credentials: readonly PresentedCredential[];
  workspaceId?: string | undefined;
}

/** What is stored with a ticket: what its caller presented. The WebSocket proves itself with the same, again and again. */
export const ticketText = (caller: TicketCaller): string => JSON.stringify(caller);

/** The caller of a ticket; `undefined` for one that is not valid any more. */
export async function redeemTicket(
  wsTickets: Pick<WsTicketStore, 'redeem'>,
  ticket: string,
): Promise<TicketCaller | undefined> {
  const text = await wsTickets.redeem(ticket);
  return text === undefined ? undefined : issued.parse(JSON.parse(text));
}

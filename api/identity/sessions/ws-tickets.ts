import { z } from 'zod';
import type { PresentedCredential } from '../../../platform/http/auth/credentials';
import type { WsTicketStore } from '../../../stores/identity/sessions/ws-ticket-store';

/** How long a ticket may be used, in milliseconds. */
export const ticketMs = 30_000;

const credentials = z.array(z.object({ carrier: z.enum(['cookie', 'bearer', 'header', 'query']), value: z.string() }));

/** What is stored with a ticket: what its caller presented. The WebSocket proves itself with the same, again and again. */
export const ticketText = (presented: readonly PresentedCredential[]): string => JSON.stringify(presented);

/** What the caller of a ticket had presented; `undefined` for a ticket that is not valid any more. */
export async function redeemTicket(
  wsTickets: Pick<WsTicketStore, 'redeem'>,
  ticket: string,
): Promise<PresentedCredential[] | undefined> {
  const text = await wsTickets.redeem(ticket);
  return text === undefined ? undefined : credentials.parse(JSON.parse(text));
}

import { createCipheriv, createDecipheriv, createHash, randomBytes } from 'node:crypto';
import type { Database, Stored } from '../../port/collection';

/** What a ticket was issued for. Neither the store nor a ticket alone reveals it: the ticket is the key of what is stored. */
interface TicketRecord extends Stored {
  nonce: string;
  sealed: string;
  expiresAt: string;
}

const cipher = 'aes-256-gcm';
const tagBytes = 16;
const form = /^rbw_([0-9a-f]{16})_([A-Za-z0-9_-]{43})$/;

/** The key is hashed, so that no other use of a ticket's text is one of the key. */
const keyOf = (secret: string): Buffer => createHash('sha256').update('runboard ws ticket v1').update(secret).digest();

/** Tickets that open one WebSocket each. */
export async function createWsTicketStore(db: Database, now: () => Date = () => new Date()) {
  const tickets = await db.collection<TicketRecord>({
    name: 'ws-tickets',
    expire: { field: 'expiresAt', afterSeconds: 60 },
  });
  return {
    /** Stores a text for so long, and returns the ticket that gets it once. */
    async issue(text: string, validMs: number): Promise<string> {
      const _id = randomBytes(8).toString('hex');
      const secret = randomBytes(32).toString('base64url');
      const nonce = randomBytes(12);
      const encipher = createCipheriv(cipher, keyOf(secret), nonce).setAAD(Buffer.from(_id));
      const sealed = Buffer.concat([encipher.update(text, 'utf8'), encipher.final(), encipher.getAuthTag()]);
      await tickets.insert({
        _id,
        nonce: nonce.toString('base64url'),
        sealed: sealed.toString('base64url'),
        expiresAt: new Date(now().getTime() + validMs).toISOString(),
      });
      return `rbw_${_id}_${secret}`;
    },

    /** The text of a ticket that is valid and was not used; it is used from now on. */
    async redeem(ticket: string): Promise<string | undefined> {
      const [, id, secret] = form.exec(ticket) ?? [];
      if (id === undefined || secret === undefined) {
        return undefined;
      }
      const record = await tickets.get(id);
      const text = record && record.expiresAt > now().toISOString() ? opened(record, secret) : undefined;
      // Of several that come at once, the one that removes it has it.
      return text !== undefined && (await tickets.deleteMany({ _id: id })) > 0 ? text : undefined;
    },
  };
}

/** `undefined` for a wrong secret. */
function opened({ _id, nonce, sealed }: TicketRecord, secret: string): string | undefined {
  const bytes = Buffer.from(sealed, 'base64url');
  const decipher = createDecipheriv(cipher, keyOf(secret), Buffer.from(nonce, 'base64url'));
  decipher.setAAD(Buffer.from(_id)).setAuthTag(bytes.subarray(-tagBytes));
  try {
    return Buffer.concat([decipher.update(bytes.subarray(0, -tagBytes)), decipher.final()]).toString('utf8');
  } catch {
    return undefined;
  }
}

export type WsTicketStore = Awaited<ReturnType<typeof createWsTicketStore>>;

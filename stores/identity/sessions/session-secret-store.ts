import { randomBytes } from 'node:crypto';
import { hideOwnSecrets } from '../../../platform/log/own-secrets';
import type { Database, Stored } from '../../port/collection';
import { insertOrGet } from '../../port/insert';

/** A secret that session tokens are signed with. */
export interface SessionSecret {
  /** Its name, which the tokens have. */
  kid: string;
  /** 32 random bytes as base64url. */
  secret: string;
  createdAt: string;
}

/** A secret that signs nothing any more. */
export interface FormerSecret extends SessionSecret {
  validUntil: string;
}

interface SecretsRecord extends Stored {
  revision: number;
  current: SessionSecret;
  former: FormerSecret[];
  rotatedAt: string;
}

export interface SessionSecrets {
  current: SessionSecret;
  /** Those that are still valid, the latest first. */
  former: FormerSecret[];
  /** `undefined` when the first one is in use. */
  rotatedAt: string | undefined;
}

/** Former secrets that are valid at the same time, at most. */
export const maxFormerSecrets = 20;

const recordId = 'sessions';
const maxTries = 20;

/** The secrets of session tokens. The first one is made once for everything that shares these stores. */
export async function openSessionSecrets(db: Database, now: () => Date = () => new Date()) {
  const records = await db.collection<SecretsRecord>({ name: 'session-secrets' });
  const make = (): SessionSecret => ({
    kid: randomBytes(9).toString('base64url'),
    secret: randomBytes(32).toString('base64url'),
    createdAt: now().toISOString(),
  });
  const first = { _id: recordId, revision: 1, current: make(), former: [], rotatedAt: '' };
  await insertOrGet(records, first);

  async function stored(): Promise<SecretsRecord> {
    const record = await records.get(recordId);
    if (!record) {
      throw new Error('The secrets of sessions were removed from the store.');
    }
    hideOwnSecrets([record.current, ...record.former].map(({ secret }) => secret));
    return record;
  }

  const valid = (former: FormerSecret[]): FormerSecret[] =>
    former.filter(({ validUntil }) => validUntil > now().toISOString());
  const present = ({ current, former, rotatedAt }: SecretsRecord): SessionSecrets => ({
    current,
    former: valid(former),
    rotatedAt: rotatedAt || undefined,
  });

  return {
    read: async (): Promise<SessionSecrets> => present(await stored()),

    /**
     * Signs with a new secret from now on. The former one stays valid for so long.
     *
     * @returns `undefined` when too many former ones are still valid
     */
    async rotate(graceMs: number): Promise<SessionSecrets | undefined> {
      for (let attempt = 0; attempt < maxTries; attempt += 1) {
        const { revision, current, former: all } = await stored();
        const at = now();
        const validUntil = new Date(at.getTime() + graceMs).toISOString();
        const former = valid(all);
        if (former.length >= maxFormerSecrets) {
          return undefined;
        }
        const changed = await records.findOneAndUpdate(
          { _id: recordId, revision },
          {
            $set: {
              current: make(),
              former: [{ ...current, validUntil }, ...former],
              rotatedAt: at.toISOString(),
            },
            $inc: { revision: 1 },
          },
        );
        if (changed) {
          hideOwnSecrets([changed.current.secret]);
          return present(changed);
        }
      }
      throw new Error('The secrets of sessions are rotated too often at once.');
    },
  };
}

export type SessionSecretStore = Awaited<ReturnType<typeof openSessionSecrets>>;

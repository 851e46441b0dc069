import { createHash } from 'node:crypto';
import type { Database, Stored } from '../../port/collection';

interface SetupCode extends Stored {
  expiresAt: string;
}

const digestOf = (code: string): string => createHash('sha256').update(code).digest('hex');

/** Codes that the first password may be set with. Each process that starts has written one to its log. */
export async function createSetupCodeStore(db: Database, now: () => Date = () => new Date()) {
  const codes = await db.collection<SetupCode>({
    name: 'setup-codes',
    indexes: [{ keys: { expiresAt: 1 } }],
    expire: { field: 'expiresAt', afterSeconds: 60 },
  });
  return {
    add: (code: string, validMs: number): Promise<void> =>
      codes.insert({ _id: digestOf(code), expiresAt: new Date(now().getTime() + validMs).toISOString() }),

    async has(code: string): Promise<boolean> {
      const found = await codes.get(digestOf(code));
      return found !== undefined && found.expiresAt > now().toISOString();
    },

    /** Makes every code useless. */
    clear: (): Promise<number> => codes.deleteMany({ expiresAt: { $gt: '' } }),
  };
}

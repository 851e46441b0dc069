import type { TerminalClaim } from '../../domain/completion';
import type { Database } from '../port/collection';
import { insertOnce } from '../port/insert';

interface StoredClaim {
  _id: string;
  attemptId: string;
  claim: TerminalClaim;
}

/** Terminal claims that arrived from outside, outside of workflow histories. The id names attempt and content. */
export async function createClaimStore(db: Database) {
  const claims = await db.collection<StoredClaim>({ name: 'completion-claims' });
  const idOf = (attemptId: string, digest: string) => `${attemptId}/${digest}`;
  return {
    async put(attemptId: string, digest: string, claim: TerminalClaim): Promise<void> {
      await insertOnce(claims, { _id: idOf(attemptId, digest), attemptId, claim });
    },
    async get(attemptId: string, digest: string): Promise<TerminalClaim | undefined> {
      return (await claims.get(idOf(attemptId, digest)))?.claim;
    },
  };
}

export type ClaimStore = Awaited<ReturnType<typeof createClaimStore>>;

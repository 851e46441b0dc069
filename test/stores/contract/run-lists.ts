import type { Page, PageRequest } from '../../../platform/lists/page';
import { createTrustStore } from '../../../stores/runs/workspaces/trust-store';
import { createWorktreeStore } from '../../../stores/runs/workspaces/worktree-store';
import { aWorktree } from '../../support/git/worktrees';
import { type StoreHarness, uniqueName, useTwoConnections } from './harness';

async function follow<T>(page: (part: PageRequest) => Promise<Page<T>>): Promise<T[]> {
  const seen: T[] = [];
  for (let part: PageRequest = { limit: 2 }; ;) {
    const { items, next } = await page(part);
    seen.push(...items);
    if (!next) {
      return seen;
    }
    part = { limit: 2, cursor: next };
  }
}

/** Lists whose endpoints ask hosts about each item, as their stores read them. */
export function runListsContract(harness: StoreHarness): void {
  describe('lists of runs', () => {
    const db = useTwoConnections(harness);

    it('hold every worktree whose lease is over once, those that are so for longest first', async () => {
      const worktrees = await createWorktreeStore(db.one);
      const prefix = uniqueName();
      const at = (n: number) => `2001-01-01T00:00:0${n}.000Z`;
      for (let n = 1; n <= 5; n += 1) {
        const lease = { leaseId: 'lease', ownerAttemptId: null, seconds: 60, expiresAt: at(Math.ceil(n / 2)) };
        await worktrees.insert(aWorktree(`${prefix}-${n}`, { state: 'ready', lease }));
      }
      const seen = await follow((part) => worktrees.expired(at(9), part));
      const ours = seen.map(({ _id }) => _id).filter((id) => id.startsWith(prefix));
      expect(ours).toEqual([1, 2, 3, 4, 5].map((n) => `${prefix}-${n}`));
    });

    it('hold every decision about a repository once, the newest first', async () => {
      const trust = await createTrustStore(db.one);
      const repository = uniqueName();
      for (let n = 1; n <= 5; n += 1) {
        await trust.add(undefined, {
          repository,
          inventoryDigest: `sha256:${String(n).repeat(64)}`,
          decision: 'trusted',
          paths: [],
          reason: `reason ${n}`,
          actor: 'user:test',
          taskId: 'TASK-1',
          decidedAt: `2026-01-01T00:00:0${Math.ceil(n / 2)}.000Z`,
        });
      }
      const seen = await follow((part) => trust.history(repository, part));
      expect(new Set(seen.map(({ id }) => id)).size).toBe(5);
      const times = seen.map(({ decidedAt }) => decidedAt);
      expect(times).toEqual([...times].sort().reverse());
    });
  });
}

import { type ScopeId, scopesOfSpender, type Spender } from '../../../domain/budgets/spend';
import type { Database, Stored } from '../../port/collection';
import { insertOnce } from '../../port/insert';

/** The runs that were admitted and have not ended, by their attempts. One document: they are changed together. */
interface HoldsRecord extends Stored {
  revision: number;
  runs: Record<string, Spender>;
}

/** The holds at one moment, for the compare-and-set of the next change. */
export interface SeenHolds {
  revision: number;
  runs: Readonly<Record<string, Spender>>;
}

const only = 'runs';

/** For which runs a part of the budgets of their scopes is reserved. */
export async function createBudgetHolds(db: Database) {
  const holds = await db.collection<HoldsRecord>({ name: 'budget-holds' });

  const read = async (): Promise<SeenHolds> => (await holds.get(only)) ?? { revision: 0, runs: {} };

  /** @returns whether they were as they had been seen */
  async function change(seen: SeenHolds, runs: Record<string, Spender>): Promise<boolean> {
    const revision = seen.revision + 1;
    return seen.revision === 0
      ? insertOnce(holds, { _id: only, revision, runs })
      : (await holds.findOneAndUpdate({ _id: only, revision: seen.revision }, { $set: { revision, runs } })) !==
          undefined;
  }

  return {
    read,

    /** Reserves for one more run, unless others changed the holds since they were seen. */
    add: (seen: SeenHolds, attemptId: string, spender: Spender): Promise<boolean> =>
      change(seen, { ...seen.runs, [attemptId]: spender }),

    /** Releases what is reserved for runs. */
    async release(...attemptIds: string[]): Promise<void> {
      for (;;) {
        const seen = await read();
        const rest = Object.entries(seen.runs).filter(([attemptId]) => !attemptIds.includes(attemptId));
        if (rest.length === Object.keys(seen.runs).length || (await change(seen, Object.fromEntries(rest)))) {
          return;
        }
      }
    },
  };
}

/** For how many runs besides one a part of the budgets of a scope is reserved. */
export const holdsOf = ({ runs }: Pick<SeenHolds, 'runs'>, of: ScopeId, besides?: string): number =>
  Object.entries(runs).filter(
    ([attemptId, spender]) =>
      attemptId !== besides &&
      scopesOfSpender(spender).some(({ scope, scopeId }) => scope === of.scope && scopeId === of.scopeId),
  ).length;

export type BudgetHolds = Awaited<ReturnType<typeof createBudgetHolds>>;

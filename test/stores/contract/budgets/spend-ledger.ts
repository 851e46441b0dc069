import fc from 'fast-check';
import type { BudgetScope } from '../../../../contracts/settings/budget';
import { monthOf } from '../../../../domain/budgets/period';
import { scopesOfSpender, type Spend, withoutNoise } from '../../../../domain/budgets/spend';
import { createSpendLedger, type NewSpendReport } from '../../../../stores/governance/budgets/spend-ledger';
import { workspaceDatabase } from '../../../../stores/port/workspace-database';
import { type StoreHarness, uniqueName, useTwoConnections } from '../harness';

let made = 0;
const aReport = (fields: Partial<NewSpendReport> = {}): NewSpendReport => ({
  key: `report-${(made += 1)}`,
  taskId: 'task_20261124_spend1',
  attemptId: 'attempt_spend00001',
  agent: 'bee',
  project: 'shop',
  tree: 'attempt_spend00001',
  tokens: 10,
  costUsd: 0.1,
  at: '2026-11-24T02:00:00.000Z',
  ...fields,
});

const start = Date.parse('2026-01-01T00:00:00.000Z');
const history = fc.array(
  fc.record({
    key: fc.integer({ min: 0, max: 30 }).map(String),
    taskId: fc.constantFrom('task_20261124_spend1', 'task_20261124_spend2'),
    agent: fc.constantFrom('bee', 'ant'),
    project: fc.constantFrom('shop', 'bank', undefined),
    tree: fc.constantFrom('attempt_spend00001', 'attempt_spend00002'),
    tokens: fc.integer({ min: 0, max: 1_000_000 }),
    costUsd: fc.double({ min: 0, max: 50, noNaN: true }),
    at: fc.integer({ min: 0, max: 120 * 86_400_000 }).map((ms) => new Date(start + ms).toISOString()),
  }),
  { maxLength: 60 },
);

/** What runs have used, on every adapter. */
export function spendLedgerContract(harness: StoreHarness): void {
  describe('the ledger of what runs use', () => {
    const stores = useTwoConnections(harness);
    /** Both connections to the ledger of a workspace of its own. */
    const two = () => {
      const workspace = `ws-${uniqueName().replace(/[^a-z0-9]/g, '')}`.slice(0, 30);
      return Promise.all(
        [stores.one, stores.other].map((database) => createSpendLedger(workspaceDatabase(database, workspace))),
      );
    };
    const workspace = { scope: 'workspace', scopeId: 'workspace' } as const;

    it('counts a report once, in all its scopes, however often and by however many it is made', async () => {
      const [one, other] = await two();
      const report = aReport();
      await Promise.all([one!, other!, one!, other!].map((ledger) => ledger.record([report, aReport()])));
      const expected = { tokens: 50, costUsd: 0.5 };
      for (const of of scopesOfSpender(report)) {
        expect(await Promise.all([one!.spent(of), other!.spent(of)])).toEqual([expected, expected]);
      }
      expect(await one!.spent({ scope: 'project', scopeId: 'bank' })).toEqual({ tokens: 0, costUsd: 0 });
    });

    it('counts on where a process died between a report and the end of its counting', async () => {
      const name = `ws-${uniqueName().replace(/[^a-z0-9]/g, '')}`.slice(0, 30);
      const database = workspaceDatabase(stores.one, name);
      let writes = 0;
      // Every write of counters after a number of them fails, as those of a process that is no more.
      const dyingAfter = (number: number) => ({
        ...database,
        collection: async (spec: Parameters<typeof database.collection>[0]) => {
          const real = await database.collection(spec);
          const alive =
            <A extends unknown[], R>(work: (...args: A) => Promise<R>) =>
            async (...args: A): Promise<R> => {
              writes += 1;
              if (writes > number) {
                throw new Error('killed');
              }
              return work(...args);
            };
          return {
            get: real.get.bind(real),
            find: real.find.bind(real),
            insert: alive(real.insert.bind(real)),
            findOneAndUpdate: alive(real.findOneAndUpdate.bind(real)),
          };
        },
      });
      const reports = Array.from({ length: 12 }, (_, at) => aReport({ taskId: `task_20261124_spend${at % 3}` }));
      for (const [at, report] of reports.entries()) {
        writes = 0;
        const dying = await createSpendLedger(dyingAfter(at) as never);
        await dying.record([report]);
        await dying.caughtUp().catch(() => undefined);
      }
      const alive = await createSpendLedger(database);
      expect(await alive.spent(workspace)).toEqual({ tokens: 120, costUsd: 1.2 });
      expect(await alive.spent({ scope: 'task', scopeId: 'task_20261124_spend1' })).toEqual({
        tokens: 40,
        costUsd: 0.4,
      });
    });

    it('is the sum of its reports for any history, in any scope and month', async () => {
      await fc.assert(
        fc.asyncProperty(history, fc.constantFrom('UTC', 'Asia/Kathmandu', 'America/New_York'), async (given, zone) => {
          const [one, other] = await two();
          const reports = given.map(({ project, ...each }) => aReport({ ...each, ...(project ? { project } : {}) }));
          await Promise.all(
            reports.map(async (report, at) => {
              const ledger = at % 2 === 0 ? one! : other!;
              await ledger.record([report]);
              await (at % 3 === 0 ? ledger.caughtUp() : undefined);
            }),
          );
          const counted = await one!.reports(0, 1_000);
          expect(counted).toHaveLength(new Set(reports.map(({ key }) => key)).size);
          for (const [scope, scopeId] of [
            ['workspace', 'workspace'],
            ['project', 'shop'],
            ['agent', 'ant'],
            ['task', 'task_20261124_spend2'],
            ['tree', 'attempt_spend00002'],
          ] satisfies [BudgetScope, string][]) {
            const of = { scope, scopeId };
            const own = counted.filter((report) =>
              scopesOfSpender(report).some((each) => each.scope === scope && each.scopeId === scopeId),
            );
            expect(await other!.spent(of)).toEqual(sumOf(own));
            if (scope === 'task' || scope === 'tree') {
              continue;
            }
            const period = monthOf(start + 50 * 86_400_000, zone);
            const within = own.filter(({ at }) => Date.parse(at) >= period.from && Date.parse(at) < period.to);
            expect(await one!.spent(of, period)).toEqual(sumOf(within));
          }
        }),
        { numRuns: 8 },
      );
    });

    it('lists the scopes of a kind by their ids', async () => {
      const [one] = await two();
      await one!.record(['c', 'a', 'b'].map((project) => aReport({ project })));
      const first = await one!.scopes('project', { limit: 2 });
      expect(first.items.map(({ scopeId }) => scopeId)).toEqual(['a', 'b']);
      const rest = await one!.scopes('project', { limit: 2, cursor: first.next });
      expect(rest.items.map(({ scopeId }) => scopeId)).toEqual(['c']);
    });
  });
}

const sumOf = (spends: readonly Spend[]): Spend => ({
  tokens: spends.reduce((sum, { tokens }) => sum + tokens, 0),
  costUsd: withoutNoise(spends.reduce((sum, { costUsd }) => withoutNoise(sum + costUsd), 0)),
});

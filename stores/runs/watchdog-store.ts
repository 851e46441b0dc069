import type { WatchdogAction, WatchdogFinding, WatchdogOverride } from '../../contracts/runs/watchdog';
import type { PageRequest } from '../../platform/lists/page';
import type { Database } from '../port/collection';
import { findPage } from '../port/find-page';
import { insertOnce } from '../port/insert';

type FindingRecord = Omit<WatchdogFinding, 'id'> & { _id: string };
type ActionRecord = Omit<WatchdogAction, 'id'> & { _id: string };
/** One per finding: the first decides. */
type OverrideRecord = WatchdogOverride & { _id: string };

/** By the event that completed it: several occur in one millisecond. */
const oldestFinding = { key: 'evidence.toSequence', direction: 1 } as const;

/** The watchdog's findings, its actions, and people's decisions. Records are retained for good. */
export async function createWatchdogStore(db: Database) {
  const ofAttempt = [{ keys: { attemptId: 1, createdAt: 1, _id: 1 } as const }];
  const [findings, actions, overrides] = await Promise.all([
    db.collection<FindingRecord>({
      name: 'watchdog-findings',
      indexes: [{ keys: { attemptId: 1, [oldestFinding.key]: 1, _id: 1 } as const }],
    }),
    db.collection<ActionRecord>({ name: 'watchdog-actions', indexes: ofAttempt }),
    db.collection<OverrideRecord>({ name: 'watchdog-overrides', indexes: ofAttempt }),
  ]);
  const oldest = { sort: { createdAt: 1, _id: 1 } } as const;

  return {
    /** Writes a finding and its action, each once. `true` when the action was not there before. */
    async record({ id: findingId, ...finding }: WatchdogFinding, { id, ...action }: WatchdogAction): Promise<boolean> {
      await insertOnce(findings, { _id: findingId, ...finding });
      return insertOnce(actions, { _id: id, ...action });
    },

    async finding(id: string): Promise<WatchdogFinding | undefined> {
      const record = await findings.get(id);
      return record && presentFinding(record);
    },

    /** Records the outcome of an action; one that was settled before does not change. */
    async settle(id: string, outcome: { state: 'requested' | 'completed'; reason?: string }, updatedAt: string) {
      await actions.findOneAndUpdate({ _id: id, state: 'requested' }, { $set: { ...outcome, updatedAt } });
    },

    /** Writes a decision, or returns the first one. */
    async override(override: WatchdogOverride): Promise<WatchdogOverride> {
      const record: OverrideRecord = { _id: override.findingId, ...override };
      if (await insertOnce(overrides, record)) {
        return override;
      }
      const first = await overrides.get(override.findingId);
      return first ? presentOverride(first) : override;
    },

    async overrideOf(id: string): Promise<WatchdogOverride | undefined> {
      const record = await overrides.get(id);
      return record && presentOverride(record);
    },

    /** Records that a decision was carried out. */
    async completeOverride(id: string, updatedAt: string): Promise<WatchdogOverride | undefined> {
      await overrides.findOneAndUpdate({ _id: id, state: 'requested' }, { $set: { state: 'completed', updatedAt } });
      return this.overrideOf(id);
    },

    /** One page of the findings of an attempt, the oldest first, with what was done and decided about each. */
    async inspect(attemptId: string, part: PageRequest) {
      const page = await findPage(findings, { filter: { attemptId }, order: oldestFinding }, part);
      const ids = page.items.map(({ _id }) => _id);
      const about = { attemptId, findingId: { $in: ids } };
      const [done, decided] = await Promise.all([actions.find(about, oldest), overrides.find(about, oldest)]);
      const byFinding = (a: { findingId: string }, b: { findingId: string }): number =>
        ids.indexOf(a.findingId) - ids.indexOf(b.findingId);
      return page.answer({
        findings: page.items.map(presentFinding),
        actions: done.sort(byFinding).map(presentAction),
        overrides: decided.sort(byFinding).map(presentOverride),
      });
    },

    /** What was done about one finding. */
    async actionsOf({
      attemptId,
      id: findingId,
    }: Pick<WatchdogFinding, 'attemptId' | 'id'>): Promise<WatchdogAction[]> {
      return (await actions.find({ attemptId, findingId }, oldest)).map(presentAction);
    },
  };
}

export type WatchdogStore = Awaited<ReturnType<typeof createWatchdogStore>>;

const presentFinding = ({ _id, ...finding }: FindingRecord): WatchdogFinding => ({ id: _id, ...finding });
const presentAction = ({ _id, ...action }: ActionRecord): WatchdogAction => ({ id: _id, ...action });
const presentOverride = ({ _id, ...override }: OverrideRecord): WatchdogOverride => override;

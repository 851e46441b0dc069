import { createHash } from 'node:crypto';
import type { Filter } from 'mongodb';
import type {
  DriftAlert,
  DriftAlertQuery,
  DriftBaseline,
  DriftBaselineQuery,
  DriftMetric,
} from '../../contracts/governance/drift';
import { compact } from '../../platform/json/compact';
import type { Page } from '../../platform/lists/page';
import { between } from '../port/between';
import type { Database, Stored } from '../port/collection';
import { findPage } from '../port/find-page';
import { insertOrGet } from '../port/insert';

type AlertRecord = Stored & Omit<DriftAlert, 'id'>;
type BaselineRecord = Stored & DriftBaseline;

/** As long as the telemetry that they follow from. */
const keptSeconds = 90 * 86_400;

const presentAlert = ({ _id, ...alert }: AlertRecord): DriftAlert => ({ id: _id, ...alert });
const presentBaseline = ({ _id, ...baseline }: BaselineRecord): DriftBaseline => baseline;
const baselineId = (agent: string, metric: DriftMetric): string => `${agent}:${metric}`;

/** What agents used to do, and when they did something else (specification 2, Policies and governance). */
export async function createDriftStore(db: Database) {
  const newest = { detectedAt: -1, _id: -1 } as const;
  const alerts = await db.collection<AlertRecord>({
    name: 'drift-alerts',
    indexes: [
      { keys: { agent: 1, ...newest } },
      { keys: { metric: 1, ...newest } },
      { keys: { severity: 1, ...newest } },
      { keys: { acknowledged: 1, ...newest } },
      { keys: newest },
    ],
    expire: { field: 'detectedAt', afterSeconds: keptSeconds },
  });
  const baselines = await db.collection<BaselineRecord>({
    name: 'drift-baselines',
    indexes: [
      { keys: { agent: 1, metric: 1 }, unique: true },
      { keys: { agent: 1, _id: 1 } },
      { keys: { metric: 1, agent: 1, _id: 1 } },
    ],
  });

  return {
    /**
     * Records an alert, or returns the existing one: the same runs make one alert, however often they are evaluated.
     *
     * @param basedOn what the alert follows from, e.g. the newest of the runs
     */
    async raise(alert: Omit<DriftAlert, 'id' | 'acknowledged'>, basedOn: string): Promise<DriftAlert> {
      const key = createHash('sha256').update(`${alert.agent}\n${alert.metric}\n${basedOn}`).digest('hex');
      const record = { _id: `drift_${key.slice(0, 24)}`, ...alert, acknowledged: false };
      return presentAlert(await insertOrGet(alerts, record));
    },

    /** The newest first. */
    async alerts({ since, limit, cursor, ...equal }: DriftAlertQuery): Promise<Page<DriftAlert>> {
      const filter = compact({ ...equal, detectedAt: between(since ?? '') }) as Filter<AlertRecord>;
      return (await findPage(alerts, { filter, order: { key: 'detectedAt', direction: -1 } }, { limit, cursor })).map(
        presentAlert,
      );
    },

    /** The first who acknowledges an alert stays the one; `undefined` when there is none. */
    async acknowledge(
      id: string,
      by: Required<Pick<DriftAlert, 'acknowledgedBy' | 'acknowledgedAt'>> & Pick<DriftAlert, 'notes'>,
    ): Promise<DriftAlert | undefined> {
      const changed = await alerts.findOneAndUpdate(
        { _id: id, acknowledged: false },
        { $set: { ...compact(by), acknowledged: true } },
      );
      const alert = changed ?? (await alerts.get(id));
      return alert && presentAlert(alert);
    },

    /** By agent and metric. */
    async baselines({ agent, metric, ...part }: DriftBaselineQuery): Promise<Page<DriftBaseline>> {
      // The id is the agent and the metric; every agent's is greater than the empty one.
      const filter = compact({ agent: agent ?? { $gt: '' }, metric }) as Filter<BaselineRecord>;
      return (await findPage(baselines, { filter, order: { key: 'agent', direction: 1 } }, part)).map(presentBaseline);
    },

    /** Stores the statistics of the runs since `since`; a reset meanwhile wins. */
    async learn({ agent, metric, since, ...learnt }: DriftBaseline): Promise<void> {
      const _id = baselineId(agent, metric);
      await insertOrGet(baselines, { _id, agent, metric, ...learnt });
      const unchanged = { _id, ...(since === undefined ? { since: { $exists: false } } : { since }) };
      await baselines.findOneAndUpdate(unchanged, { $set: learnt });
    },

    /** Discards the samples: the baseline begins again at `at`. */
    async reset(agent: string, metric: DriftMetric, at: string): Promise<DriftBaseline> {
      const _id = baselineId(agent, metric);
      const empty = { agent, metric, mean: 0, standardDeviation: 0, sampleSize: 0, since: at, updatedAt: at };
      const { agent: _agent, metric: _metric, ...fields } = empty;
      await insertOrGet(baselines, { _id, ...empty });
      await baselines.findOneAndUpdate({ _id }, { $set: fields });
      return empty;
    },
  };
}

export type DriftStore = Awaited<ReturnType<typeof createDriftStore>>;

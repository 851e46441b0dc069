import {
  type DriftAlert,
  type DriftBaseline,
  driftMetric,
  type DriftSnapshot,
} from '../../../contracts/governance/drift';
import { compact } from '../../../platform/json/compact';
import type { DriftStore } from '../../../stores/governance/drift-store';
import type { TelemetryStore } from '../../../stores/system/telemetry-store';
import { alarming, compare } from './deviation';
import { type RunEvents, samplesOf } from './samples';

/** How many of an agent's newest events of each type are read. */
const lookedAt = 1_000;
/** How far back, in days. */
const lookedBack = 30;

interface Deps {
  drift: Pick<DriftStore, 'baselines' | 'learn' | 'raise'>;
  telemetry: Pick<TelemetryStore, 'list'>;
}

export interface Analysis {
  alerts: DriftAlert[];
  baselines: DriftBaseline[];
  snapshots: DriftSnapshot[];
}

const beyond = (since: string | undefined) => (event: { timestamp: string }) =>
  since === undefined || event.timestamp > since;

/**
 * Compares an agent's latest runs with its earlier ones, stores the baseline, and raises alerts for deviations. The same runs
 * analyzed again change nothing.
 */
export async function analyze({ drift, telemetry }: Deps, agent: string, now: Date): Promise<Analysis> {
  const { items: baselines } = await drift.baselines({ agent, limit: driftMetric.options.length });
  const since = new Date(now.getTime() - lookedBack * 86_400_000).toISOString();
  const events = async (type: 'run.started' | 'run.completed' | 'run.tokens') =>
    (await telemetry.list({ type, agent, since, until: now.toISOString() }, { limit: lookedAt })).items;
  const [started, completed, tokens] = await Promise.all([
    events('run.started'),
    events('run.completed'),
    events('run.tokens'),
  ]);
  const analysis: Analysis = { alerts: [], baselines: [], snapshots: [] };
  for (const metric of driftMetric.options) {
    const begin = baselines.find((one) => one.metric === metric)?.since;
    const isOurs = beyond(begin);
    const ours: RunEvents = {
      started: started.filter(isOurs),
      completed: completed.filter(isOurs),
      tokens: tokens.filter(isOurs),
    };
    const samples = samplesOf(metric, ours, now);
    const { baseline, current, deviation } = compare(samples);
    const learnt: DriftBaseline = {
      agent,
      metric,
      ...baseline,
      ...(begin === undefined ? {} : { since: begin }),
      updatedAt: now.toISOString(),
    };
    if (samples.length > 0) {
      await drift.learn(learnt);
    }
    analysis.baselines.push(learnt);
    analysis.snapshots.push({
      metric,
      current: current.mean,
      sampleSize: current.sampleSize,
      ...compact({ deviation }),
    });
    const alarm = deviation === undefined ? undefined : alarming(deviation);
    if (deviation === undefined || !alarm) {
      continue;
    }
    const alert = { agent, metric, baseline: baseline.mean, current: current.mean, deviation, ...alarm };
    const newest = `${samples[0]?.at ?? ''} ${samples.length}`;
    analysis.alerts.push(await drift.raise({ ...alert, detectedAt: now.toISOString() }, newest));
  }
  return analysis;
}
